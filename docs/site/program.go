package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// addProgram adds the pages about commands and magic commands, which are what the program
// says about itself.
func (s *site) addProgram(program string) error {
	var b strings.Builder
	b.WriteString("# Commands\n\nThe texts that `quern help` and `quern COMMAND -h` print. [Environment variables](../docs/environment.md) change defaults.\n\n")
	usage, err := exec.Command(program, "help").Output()
	if err != nil {
		return fmt.Errorf("%s help: %w", program, err)
	}
	fmt.Fprintf(&b, "```text\n%s\n```\n\n", strings.TrimSpace(string(usage)))
	names := regexp.MustCompile(`(?m)^  quern ([a-z]+)`).FindAllStringSubmatch(string(usage), -1)
	if len(names) < 5 {
		return fmt.Errorf("%s help lists only %d commands", program, len(names))
	}
	for _, m := range names {
		text, err := exec.Command(program, m[1], "-h").CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s %s -h: %w", program, m[1], err)
		}
		fmt.Fprintf(&b, "## quern %s\n\n```text\n%s\n```\n\n", m[1], strings.TrimSpace(string(text)))
	}
	s.add("cmd/quern", &page{to: "reference/commands.md", text: []byte(b.String()), markdown: true})

	help, err := runCell(program, "%help")
	if err != nil {
		return err
	}
	commands, about, found := strings.Cut(help, "\nAlso useful in a cell:\n")
	if !found {
		return fmt.Errorf("the output of %%help has changed: %s", help)
	}
	b.Reset()
	b.WriteString("# Magic commands\n\nWhat `%help` prints. There is no command for anything that Go code can do.\n\n")
	b.WriteString("| Command | |\n|---|---|\n")
	rows := regexp.MustCompile(`(?m)^  (\S.*?)  +(\S.*)$`).FindAllStringSubmatch(commands, -1)
	if len(rows) < 5 {
		return fmt.Errorf("%%help lists only %d commands", len(rows))
	}
	for _, m := range rows {
		fmt.Fprintf(&b, "| `%s` | %s |\n", strings.ReplaceAll(m[1], "|", `\|`), strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(m[2]))
	}
	fmt.Fprintf(&b, "\n## Also useful in a cell\n\n```text\n%s\n```\n", strings.TrimRight(about, "\n"))
	s.add("interp/magic", &page{to: "reference/magics.md", text: []byte(b.String()), markdown: true})
	return nil
}

// runCell returns what a cell prints.
func runCell(program, source string) (string, error) {
	folder, err := os.MkdirTemp("", "quern-site-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	notebook, err := json.Marshal(map[string]any{
		"nbformat": 4, "nbformat_minor": 5, "metadata": map[string]any{},
		"cells": []any{map[string]any{"id": "a", "cell_type": "code", "metadata": map[string]any{}, "source": source, "outputs": []any{}, "execution_count": nil}},
	})
	if err != nil {
		return "", err
	}
	name := filepath.Join(folder, "cell.ipynb")
	if err := os.WriteFile(name, notebook, 0o666); err != nil {
		return "", err
	}
	output, err := exec.Command(program, "run", name).Output()
	if err != nil {
		return "", fmt.Errorf("%s run with %s: %w", program, source, err)
	}
	return string(output), nil
}
