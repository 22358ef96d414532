"""Where the memory went: answers from a record's ``allocations``, without Paddle."""
