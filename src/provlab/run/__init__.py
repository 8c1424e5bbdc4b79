"""Running planned tasks: a task, its executors and its environment."""
