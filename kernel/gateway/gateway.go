// Package gateway is what a process proxy of Jupyter Enterprise Gateway expects of a kernel that it has started on another
// machine, in a container or in a pod: a launcher, which chooses the ports, reports them to the gateway, and obeys its requests.
//
// The files, in the order of a launch:
//
//	launch.go    what the gateway passes to the launcher, and its check
//	ports.go     free ports within the range that the gateway allows
//	report.go    the connection information, encrypted for the gateway
//	requests.go  signals and the shutdown, which the gateway sends to the communication port
package gateway
