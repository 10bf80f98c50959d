// Command asm generates the package cpu's amd64 assembly with avo:
//
//	go generate ./accel/internal/cpu
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/build"
)

func main() {
	kinds := map[string]func(){
		"gemm": gemm, "vector": vector, "shift": shift, "rows": rows, "winograd": winograd, "channel": channel, "integer": integer,
		"specials": specials,
	}
	names := strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
	kind := flag.String("kind", "", "one of "+names)
	flag.Parse()
	build.ConstraintExpr("!purego")
	generate, ok := kinds[*kind]
	if !ok {
		log.Fatalf("asm: -kind must be one of %s, not %q", names, *kind)
	}
	generate()
	build.Generate()
	for _, file := range []struct{ name, more string }{{"out", ""}, {"stubs", declaredTables()}} {
		if err := complete(flag.Lookup(file.name).Value.String(), file.more); err != nil {
			log.Fatalf("asm: %v", err)
		}
	}
}

// tables are tables of tiles for Go, by their declarations: the functions for one row, two rows and so on, each from narrow to wide.
var tables = map[string][][]string{}

// tabled adds a function for a number of rows to the table of a type of tile and an instruction set.
func tabled(tile, set string, rows int, function string) {
	name := fmt.Sprintf("%ss%s = [][]%s", tile, set, tile)
	if len(tables[name]) < rows {
		tables[name] = append(tables[name], nil)
	}
	tables[name][rows-1] = append(tables[name][rows-1], function)
}

// declaredTables returns the tables as Go.
func declaredTables() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		fmt.Fprintf(&text, "\nvar %s{\n", name)
		for _, functions := range tables[name] {
			fmt.Fprintf(&text, "\t{%s},\n", strings.Join(functions, ", "))
		}
		text.WriteString("}\n")
	}
	return text.String()
}

// complete corrects the command in the header of a generated file, since avo assumes a program of one file, and adds text at its end.
func complete(path, more string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	header, rest, _ := strings.Cut(string(text), "\n")
	command, _, _ := strings.Cut(header, "go run main.go")
	return os.WriteFile(path, []byte(command+"go generate ./accel/internal/cpu. DO NOT EDIT.\n"+rest+more), 0o644)
}
