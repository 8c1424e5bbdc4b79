"""Running what is planned: a task, its executors and where it ran."""
