// Command gotest runs the tests of the Go distribution as cells.
//
//	go run ./interp/internal/gotest                  run all and print the table; fails if a test that used to pass does not
//	go run ./interp/internal/gotest -run 'ken/|map'  run the tests whose name matches, and show their output
//	go run ./interp/internal/gotest -update          regenerate failures.txt
//	go run ./interp/internal/gotest -oracle          regenerate oracle.txt: compile and run every test (ten minutes)
//	go run ./interp/internal/gotest -json table.json also write the table as JSON
//
// The tests are the files of $GOROOT/test that begin with "// run", need no second file
// and no argument, and whose build constraints hold. They are not copied: this folder has
// only their names. Each runs in its own session in its own process, which is this program
// again. The file without its package clause is a cell; it has no statements, so the
// session calls main.
//
// # What is compared
//
// The exit status and the combined output must be those of the compiled program. Most
// programs print nothing and exit with status 0; oracle.txt has the expected output of the
// others, for one release of Go. Tests that fail when compiled, because they need Go's own
// test runner, are excluded.
//
// # Outcomes
//
//   - pass: the same output and exit status as the compiled program;
//   - refused: an error of the checker or of the front end, before anything ran;
//   - wrong: different output or exit status, without an error of the session;
//   - panic: a panic or run-time error that the compiled program does not have;
//   - fault: an internal error of the interpreter, after which the session continues;
//   - crash: the process crashed;
//   - time-out.
//
// failures.txt lists the tests that do not pass, each with its outcome and cause. A cause
// that begins with "?" is the error message of a failure that has not been investigated.
// -update keeps any other cause while the outcome stays the same. The outcome "varies",
// for a test that sometimes passes, is written by hand.
package main
