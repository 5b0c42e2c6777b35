"""Agents: how a task is attempted under a skill. Each turns one model into something that can be deployed."""
