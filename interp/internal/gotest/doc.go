// Command gotest runs the tests of the Go distribution as cells.
//
//	go run ./interp/internal/gotest                  run all, print the table, fail when a file that passed does not
//	go run ./interp/internal/gotest -run 'ken/|map'  run those whose name matches, and show what they printed
//	go run ./interp/internal/gotest -update          write failures.txt again
//	go run ./interp/internal/gotest -oracle          write oracle.txt again: compile and run every file (ten minutes)
//	go run ./interp/internal/gotest -json table.json write the table as JSON too
//
// The files are those of $GOROOT/test that begin with "// run", need no second
// file and no argument, and whose build constraints hold. They stay there: only
// their names are in this folder. Each runs in a session of a process of its own,
// which is this program again: the file without its package clause is a cell, which
// calls main since it has no statements.
//
// # What is compared
//
// Status and combined output, with what the compiled program does: for most that is
// to end silently with status 0; oracle.txt has the others. It belongs to one
// release of Go. Tests that fail when they are compiled and run without Go's own
// runner are left out.
//
// # What can come of a file
//
//   - pass: the same output and exit status as the compiled program;
//   - refused: an error of the checker or of the front end, before anything ran;
//   - wrong: another output, or an exit status, and no error of ours;
//   - panic: a panic or run-time error that the compiled program does not have;
//   - fault: an internal error of the interpreter, which the session survives;
//   - crash: the process died;
//   - time-out.
//
// failures.txt lists the files that do not pass, each with its outcome and cause. A
// cause that begins with "?" is the message of the error, which no one has looked
// into yet; any other is kept by -update for as long as the outcome stays the same. A
// file that sometimes passes has, by hand, the outcome "varies".
package main
