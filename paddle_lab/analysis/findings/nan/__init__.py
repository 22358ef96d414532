"""NaN and Inf: what was in each tensor, where it began, why, and how far it came."""
