"""Memory counters, which a thread reads at a steady rate and stores in bounded memory."""
