"""The sandbox: programs that a model wrote, run without any access to the host."""
