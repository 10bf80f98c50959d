package library

import "log"

// exits implements the functions that end the process. In a cell that is a program, they end
// the program.
type exits struct {
	goroutines Goroutines
	loggers    *loggers
	values     Values
}

func (e *exits) functions() Packages {
	exit := map[string]any{"Exit": e.goroutines.Exit}
	return Packages{
		"os/os":           functionsOf(exit),
		"syscall/syscall": functionsOf(exit),
		"log/log": functionsOf(map[string]any{
			"Fatal":   func(v ...any) { e.fatal(log.Default(), e.values.Sprint(v...)) },
			"Fatalf":  func(format string, v ...any) { e.fatal(log.Default(), e.values.Sprintf(format, v...)) },
			"Fatalln": func(v ...any) { e.fatal(log.Default(), e.values.Sprintln(v...)) },
		}),
		"quern/rt/rt": functionsOf(map[string]any{
			"LogFatal":   func(l *log.Logger, v ...any) { e.fatal(l, e.values.Sprint(v...)) },
			"LogFatalf":  func(l *log.Logger, format string, v ...any) { e.fatal(l, e.values.Sprintf(format, v...)) },
			"LogFatalln": func(l *log.Logger, v ...any) { e.fatal(l, e.values.Sprintln(v...)) },
		}),
	}
}

// fatal is l.Fatal.
func (e *exits) fatal(l *log.Logger, text string) {
	// Package log ignores the error of the writer here too.
	_ = e.loggers.write(l, 1, text)
	e.goroutines.Exit(1)
}
