// Command site writes the pages from which Zensical builds the documentation site: the pages of
// docs, the guides in docs/site/pages, the reference, which it generates from the source and
// from the program, and the gallery, from executed notebooks. make site runs it.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the folder of the repository")
	program := flag.String("program", "bin/quern", "the program that describes its commands")
	gallery := flag.String("gallery", "build/gallery", "the folder with executed notebooks; the others are shown without outputs")
	out := flag.String("o", "build/site-source", "the folder to write, which is deleted first")
	flag.Parse()
	if err := run(*root, *program, *gallery, *out); err != nil {
		fmt.Fprintf(os.Stderr, "site: %v\n", err)
		os.Exit(1)
	}
}

func run(root, program, gallery, out string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	s := &site{root: root, pages: map[string]*page{}}
	for _, add := range []func() error{
		s.addPages,
		s.addReference,
		func() error { return s.addProgram(program) },
		func() error { return s.addGallery(gallery) },
	} {
		if err := add(); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := s.write(out); err != nil {
		return err
	}
	return s.configure(filepath.Join(root, "docs", "site", "mkdocs.yml"), filepath.Join(filepath.Dir(out), "mkdocs.yml"))
}
