// Command link changes the WebAssembly program that Go's linker writes, for browsers.
//
//	link optimize PROGRAM TO         replaces jumps
//	link count PROGRAM TO            makes a program that reports which of its functions were called
//	link split PROGRAM USED FOLDER   writes FOLDER/quern.wasm, without the functions whose numbers are not in the file USED, and
//	                                 FOLDER/rest-NAME.wasm with these functions, which quern.wasm asks for at the first call
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "link:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	commands := map[string]int{"optimize": 3, "count": 3, "split": 4}
	if len(args) == 0 || commands[args[0]] != len(args) {
		return errors.New("use link optimize PROGRAM TO, link count PROGRAM TO, or link split PROGRAM USED FOLDER")
	}
	file, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	m, err := readModule(file)
	if err != nil {
		return fmt.Errorf("%s: %w", args[1], err)
	}
	switch args[0] {
	case "optimize":
		for i, body := range m.bodies {
			m.bodies[i] = optimizeJumps(body)
		}
	case "count":
		countCalls(m)
	case "split":
		used, err := readNumbers(args[2])
		if err != nil {
			return err
		}
		rest, name, err := split(m, func(function int) bool { return used[function] })
		if err != nil {
			return fmt.Errorf("%s: %w", args[1], err)
		}
		if err := os.WriteFile(filepath.Join(args[3], "rest-"+name+".wasm"), rest, 0o644); err != nil {
			return err
		}
		args[2] = filepath.Join(args[3], "quern.wasm")
	}
	return os.WriteFile(args[2], m.write(), 0o644)
}

// readNumbers reads a file of numbers.
func readNumbers(name string) (map[int]bool, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	numbers := map[int]bool{}
	for _, word := range strings.Fields(string(text)) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		numbers[n] = true
	}
	return numbers, nil
}
