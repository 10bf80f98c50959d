package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime"
)

func show() { fmt.Println(len(os.Args), runtime.MemProfileRate) }

func main() {
	defer func(args []string, rate int, usage func(), client *http.Client) {
		os.Args, runtime.MemProfileRate, flag.Usage, http.DefaultClient = args, rate, usage, client
	}(os.Args, runtime.MemProfileRate, flag.Usage, http.DefaultClient)
	os.Args = []string{"a", "b"}
	fmt.Println(os.Args, len(os.Args))
	old := http.DefaultClient
	http.DefaultClient = nil
	fmt.Println(http.DefaultClient == nil, old == http.DefaultClient)
	http.DefaultClient = old
	fmt.Println(http.DefaultClient == nil, old == http.DefaultClient)
	runtime.MemProfileRate = 0
	fmt.Println(runtime.MemProfileRate)
	runtime.MemProfileRate += 5
	runtime.MemProfileRate++
	show()
	called := 0
	flag.Usage = func() { called++ }
	flag.Usage()
	fmt.Println(called)
	http.DefaultClient = &http.Client{Timeout: 5}
	fmt.Println(http.DefaultClient.Timeout)
	http.DefaultClient.Timeout = 6
	fmt.Println(http.DefaultClient.Timeout)
	abort := http.ErrNoLocation
	http.ErrNoLocation = fmt.Errorf("other")
	fmt.Println(http.ErrNoLocation, http.ErrNoLocation == abort)
	http.ErrNoLocation = abort
	fmt.Println(http.ErrNoLocation == abort)
	p := &runtime.MemProfileRate
	*p = 9
	show()
	os.Args[0] = "z"
	os.Args, called = append(os.Args, "c"), 3
	fmt.Println(os.Args, called)
	for i := range os.Args {
		os.Args[i] += "!"
	}
	for _, os.Args[0] = range []string{"q"} {
	}
	fmt.Println(os.Args)
}
