package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	own := flag.Bool("own", false, "only our packages, not the standard library")
	flag.Parse()
	err := generateOwn()
	if err == nil && !*own {
		err = generateStd()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
