// Command asm generates the package cpu's amd64 assembly with avo:
//
//	go generate ./accel/internal/cpu
package main

import (
	"bytes"
	"flag"
	"log"
	"os"

	"github.com/mmcloughlin/avo/build"
)

func main() {
	kind := flag.String("kind", "", "gemm, vector, rows, shift, winograd, channel or integer")
	flag.Parse()
	build.ConstraintExpr("!purego")
	switch *kind {
	case "gemm":
		gemm()
	case "vector":
		vector()
		momentStep(avx2)
		momentStep(avx512)
	case "shift":
		shift()
	case "rows":
		rows()
	case "winograd":
		winograd()
	case "channel":
		channel()
	case "integer":
		integer()
	default:
		log.Fatalf("asm: -kind must be gemm, vector, rows, shift, winograd, channel or integer, not %q", *kind)
	}
	build.Generate()
	for _, name := range []string{"out", "stubs"} {
		if err := nameCommand(flag.Lookup(name).Value.String()); err != nil {
			log.Fatalf("asm: %v", err)
		}
	}
}

// nameCommand corrects the command in the header of a generated file: avo assumes a program
// of one file.
func nameCommand(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	at := bytes.Index(line, []byte("go run main.go"))
	if at < 0 {
		return nil
	}
	header := append([]byte{}, line[:at]...)
	header = append(header, "go generate ./accel/internal/cpu. DO NOT EDIT.\n"...)
	return os.WriteFile(path, append(header, rest...), 0o644)
}
