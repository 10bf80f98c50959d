// Package transporttest provides sockets for tests: a queue for each channel and
// direction, without a network.
package transporttest
