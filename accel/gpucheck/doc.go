// Command check checks and measures Quern on a machine with a GPU, which needs no Go, no CUDA
// toolkit and no network. README.md has the command lines. Its two commands have time limits:
//
//	gpu-check tell      is everything right, and where does the time go?
//	gpu-check compare   how fast is it beside PyTorch, and what does each part contribute?
//
// Each consists of parts (see commands). Each part runs in its own process, so that none can stop
// another, and the results are saved after each. If one piece of a part, such as an op, makes the
// GPU unusable for its process or does not terminate, a new process continues with the next piece.
// A part ends early enough to leave the later ones their reserved time. The exit status is 1 if a
// result is wrong, and 3 if a part is missing or incomplete.
//
// # How the program works
//
// gpu-check is this program; gpu-check-kernels is the test program of the kernels, and
// gpu-check-bench is accel/bench, which has the models at full size.
//
//	main.go      the command line, and a command with its parts
//	parts.go     the parts, their processes and statuses, and how a part continues after its process
//	             has ended; group_unix.go the processes that a part starts
//	machine.go   libraries, driver, owners of files, clocks
//	smoke.go     small models; ops.go the ops and how they are compared
//	models.go    what accel/bench measures: profiles, candidates, PyTorch, variants
//	ranks.go     several ranks and GPUs
//	kernels.go   loading the kernels, also as machine code of ptxas, and their tests
//	tools.go     NVIDIA's tools
//	report.go    the result file; table.go the table
package main
