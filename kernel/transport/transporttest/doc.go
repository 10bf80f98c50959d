// Package transporttest has sockets for tests: one queue for each channel and
// direction, and no network.
package transporttest
