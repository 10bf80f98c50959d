package active

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/quernlab/quern/display"
)

// Prompt asks a person at a terminal: it shows each example and reads the name or the number of
// its class from a line. An empty line skips the example, and "q" stops unless it is the name
// of a class. In a cell, pass bufio.NewReader(os.Stdin).
func Prompt(r io.Reader) Asker { return &prompt{lines: bufio.NewReader(r)} }

type prompt struct{ lines *bufio.Reader }

func (p *prompt) Ask(ctx context.Context, q *Question) (int, error) {
	display.Show(q.Show())
	for {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		display.Show(display.Text(choices(q.Classes)))
		line, err := p.lines.ReadString('\n')
		if err != nil && (!errors.Is(err, io.EOF) || line == "") {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("standard input cannot be read here; use Oracle: %w", io.ErrUnexpectedEOF)
			}
			return 0, err
		}
		class, err := parse(strings.TrimSpace(line), q.Classes)
		if err == nil || errors.Is(err, ErrSkip) || errors.Is(err, ErrStop) {
			return class, err
		}
		display.Show(display.Text(err.Error()))
	}
}

// choices describes the possible answers.
func choices(classes []string) string {
	names := make([]string, len(classes))
	for k, name := range classes {
		names[k] = name
		if name != strconv.Itoa(k) {
			names[k] = fmt.Sprintf("%d %s", k, name)
		}
	}
	return "Which class? " + strings.Join(names, ", ") + " (empty: skip, q: end)"
}

// parse returns the class of an answer.
func parse(answer string, classes []string) (int, error) {
	for k, name := range classes {
		if answer == name && name != "" {
			return k, nil
		}
	}
	switch answer {
	case "":
		return 0, ErrSkip
	case "q":
		return 0, ErrStop
	}
	for k, name := range classes {
		if strings.EqualFold(answer, name) {
			return k, nil
		}
	}
	if k, err := strconv.Atoi(answer); err == nil && k >= 0 && k < len(classes) {
		return k, nil
	}
	return 0, fmt.Errorf("%q is not a class", answer)
}
