"""Execution of planned tasks: tasks, executors and the environment."""
