"""What is wrong, and which line did it: checks over a record, and what they found."""
