// Package usage measures how much CPU time, memory and GPU the processes of a kernel use.
//
// A [Meter] is queried repeatedly, for example by a panel of the front end. CPU usage is
// measured since the previous query. A query never waits for a driver: GPUs are queried
// in the background, and a measurement has the latest known values.
package usage
