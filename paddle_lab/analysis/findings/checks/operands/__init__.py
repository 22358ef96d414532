"""Checks of what ops and losses take: probabilities or logits, masks, ranges."""
