"""Run the programs that a model wrote, without any access to the host."""
