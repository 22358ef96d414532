"""Where the memory went: answers from the record's ``allocations``, without Paddle."""
