"""Where the memory went: answers over the record's ``allocations``, without Paddle."""
