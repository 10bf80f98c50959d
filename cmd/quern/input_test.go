package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/quernlab/quern/kernel/link"
)

// answers is a notebook whose user types the given lines and then ends the input.
type answers struct {
	lines []string
	err   error
	link.Notebook
}

func (a *answers) Input(context.Context, link.InputRequest) (link.InputReply, error) {
	if len(a.lines) == 0 {
		return link.InputReply{EOF: true}, a.err
	}
	line := a.lines[0]
	a.lines = a.lines[1:]
	return link.InputReply{Line: line}, nil
}

func TestLineReader(t *testing.T) {
	scanner := bufio.NewScanner(&lineReader{notebook: &answers{lines: []string{"one", "", "zwölf"}}})
	var got []string
	for scanner.Scan() {
		got = append(got, scanner.Text())
	}
	if len(got) != 3 || got[0] != "one" || got[1] != "" || got[2] != "zwölf" || !errors.Is(scanner.Err(), errNoInput) {
		t.Errorf("got %q, %v", got, scanner.Err())
	}
}

func TestLineReaderReportsAnInterrupt(t *testing.T) {
	interrupted := errors.New("interrupted")
	_, err := io.ReadAll(&lineReader{notebook: &answers{err: interrupted}})
	if !errors.Is(err, interrupted) {
		t.Errorf("want %v, got %v", interrupted, err)
	}
}

func TestLineReaderEnds(t *testing.T) {
	text, err := io.ReadAll(&lineReader{notebook: &answers{lines: []string{"a", link.EndOfInput, "b"}}})
	if string(text) != "a\n" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}
