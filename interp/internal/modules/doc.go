// Command modules runs a small program for each of the most imported modules, compiled by Go
// and in a session of Quern after %get, and compares what they print.
//
//	go run ./interp/internal/modules                     run all, print the table, write docs/modules.md
//	go run ./interp/internal/modules -run 'pgx|sqlite'   run the programs whose name or module matches, and show their output
//	go run ./interp/internal/modules -recorded           compare with the recorded outputs, without compiling
//	go run ./interp/internal/modules -update             record the outputs, and write docs/modules.md even if modules do not work any more
//
// The programs are in testdata, with one archive for each theme:
//
//	-- name.go --
//	// %get module@version
//
//	package main
//	…
//	-- name.out --
//	what the compiled program prints
//
// The first module that a program gets is the one that it is about. A program prints the same
// each time, and has at most 30 lines after its imports. It needs no network: servers are in the
// same process.
//
// Each program runs in its own process, which is this program again. The first cell has the lines
// of %get, and the second one is the program. It must print what the compiled program prints,
// with the same exit status.
//
// # Outcomes
//
//   - works: the same output and exit status;
//   - rejected: an error before anything of the program ran, with the reason;
//   - differs: another output, or an error that the compiled program does not have;
//   - internal error: of the session, or the process crashed or did not end.
//
// The table in docs/modules.md has the last recorded outcomes. The command fails, and does not
// write the table, if a module that worked does not work any more.
package main
