"""Running code once more on the state that it began with, and putting everything back."""
