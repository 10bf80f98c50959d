package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/tools/txtar"
)

// A program is a Go program that uses a module.
type program struct {
	name   string
	theme  string // the name of its archive
	gets   []module.Version
	source string
	want   string // the recorded output of the compiled program
}

// module returns the module that the program is about.
func (p program) module() module.Version { return p.gets[0] }

// commands returns the cell that gets the modules of the program.
func (p program) commands() string {
	var cell strings.Builder
	for _, m := range p.gets {
		fmt.Fprintf(&cell, "%%get %s\n", m)
	}
	return cell.String()
}

var getLine = regexp.MustCompile(`(?m)^// %get (\S+)@(\S+)$`)

// readPrograms reads the archives of a folder. The programs are in the order of their modules.
func readPrograms(folder string) ([]program, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no programs in %s", folder)
	}
	var list []program
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			return nil, err
		}
		some, err := parsePrograms(archive)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for i := range some {
			some[i].theme = strings.TrimSuffix(filepath.Base(file), ".txtar")
		}
		list = append(list, some...)
	}
	slices.SortFunc(list, func(a, b program) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.module().Path), strings.ToLower(b.module().Path)), strings.Compare(a.name, b.name))
	})
	return list, nil
}

func parsePrograms(archive *txtar.Archive) ([]program, error) {
	outputs := map[string]string{}
	for _, f := range archive.Files {
		outputs[f.Name] = string(f.Data)
	}
	var list []program
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ".go")
		if !ok {
			continue
		}
		p := program{name: name, source: string(f.Data), want: outputs[name+".out"]}
		for _, match := range getLine.FindAllStringSubmatch(p.source, -1) {
			p.gets = append(p.gets, module.Version{Path: match[1], Version: match[2]})
		}
		if len(p.gets) == 0 {
			return nil, fmt.Errorf("%s has no line %q", f.Name, "// %get module@version")
		}
		list = append(list, p)
	}
	return list, nil
}

// record writes the outputs of programs into the archives of a folder.
func record(folder string, programs []program) error {
	themes := map[string]map[string]string{}
	for _, p := range programs {
		if themes[p.theme] == nil {
			themes[p.theme] = map[string]string{}
		}
		themes[p.theme][p.name] = p.want
	}
	var failed []error
	for theme, outputs := range themes {
		failed = append(failed, recordTheme(filepath.Join(folder, theme+".txtar"), outputs))
	}
	return errors.Join(failed...)
}

func recordTheme(file string, outputs map[string]string) error {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return err
	}
	old := map[string][]byte{}
	for _, f := range archive.Files {
		old[f.Name] = f.Data
	}
	var files []txtar.File
	for _, f := range archive.Files {
		name, ok := strings.CutSuffix(f.Name, ".go")
		if !ok {
			continue
		}
		out := old[name+".out"]
		if want, ok := outputs[name]; ok {
			out = []byte(want)
		}
		files = append(files, f, txtar.File{Name: name + ".out", Data: out})
	}
	archive.Files = files
	return os.WriteFile(file, txtar.Format(archive), 0o644)
}
