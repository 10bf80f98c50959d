package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	own := flag.Bool("own", false, "only our packages, not the standard library")
	standard := flag.Bool("std", false, "only the standard library of this Go release, not our packages")
	flag.Parse()
	var err error
	if !*standard {
		err = generateOwn()
	}
	if err == nil && !*own {
		err = generateStd()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
