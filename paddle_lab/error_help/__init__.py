"""What to do about errors of Paddle's: a table from an error's text to advice."""
