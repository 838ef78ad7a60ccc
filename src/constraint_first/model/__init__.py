"""Models: one client for every endpoint, the wire format, and models on this machine."""
