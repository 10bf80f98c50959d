// Command generate writes the licenses of the modules that the program links to
// notices.txt, and the list of them to NOTICE at the top of the module. Run it with go
// generate in internal/notices after a change of go.mod.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("../.."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	notice, text, err := render(root)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, "NOTICE"), []byte(notice), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "internal", "notices", "notices.txt"), []byte(text), 0o644)
}
