// Package link is the small typed protocol between the front process, which
// speaks Jupyter, and the worker process, which runs cells.
package link
