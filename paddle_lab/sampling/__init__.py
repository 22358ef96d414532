"""Memory counters: a thread reads them at a steady rate, and stores them in bounded memory."""
