// Command save uses failpoints as the packages do.
package main

import (
	"os"

	"github.com/quernlab/quern/internal/failpoint"
)

func main() {
	f, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if _, err := failpoint.Writer(failpoint.FileWrite, f).Write([]byte("text")); err != nil {
		panic(err)
	}
	if err := failpoint.Do(failpoint.FileSync, f.Sync); err != nil {
		panic(err)
	}
}
