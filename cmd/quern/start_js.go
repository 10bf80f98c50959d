package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall/js"

	"github.com/quernlab/quern/kernel"
	"github.com/quernlab/quern/kernel/transport/page"
)

// main runs the kernel in a Web Worker of a browser. Before it starts the program, the script of the worker sets
//
//	quernHost = { send(text, buffers), ready() }
//
// where send passes a message of the kernel to the page: its JSON text and its buffers as Uint8Arrays. main sets
//
//	quernKernel = { receive(text, buffers) }
//
// for messages to the kernel, and calls ready. It returns when a client has shut the kernel down.
func main() {
	std := stdio{os.Stdout, os.Stderr}
	host := js.Global().Get("quernHost")
	if host.IsUndefined() {
		fmt.Fprintln(os.Stderr, "quern: this is the kernel for browsers: the script that starts it must set quernHost")
		os.Exit(1)
	}
	sockets := page.New(func(text []byte, buffers [][]byte) {
		list := js.Global().Get("Array").New()
		for _, b := range buffers {
			list.Call("push", bytesToJS(b))
		}
		host.Call("send", string(text), list)
	})
	receive := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if err := deliver(sockets, args); err != nil {
			fmt.Fprintln(os.Stderr, "quern:", err)
		}
		return nil
	})
	js.Global().Set("quernKernel", map[string]any{"receive": receive})
	host.Call("ready")
	err := kernel.RunEmbedded(context.Background(), kernel.Embedded{
		Sockets: sockets, NewWorker: newLocalWorker, Version: buildVersion(), Logger: newLogger(std.err, slog.LevelWarn),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "quern:", err)
		os.Exit(1)
	}
}

// deliver passes a message of the page, the arguments of quernKernel.receive, to the kernel.
func deliver(sockets *page.Sockets, args []js.Value) error {
	if len(args) == 0 || args[0].Type() != js.TypeString {
		return fmt.Errorf("quernKernel.receive needs a message as text")
	}
	var buffers [][]byte
	if len(args) > 1 && args[1].Type() == js.TypeObject {
		for i := range args[1].Length() {
			array := args[1].Index(i)
			b := make([]byte, array.Get("byteLength").Int())
			js.CopyBytesToGo(b, array)
			buffers = append(buffers, b)
		}
	}
	return sockets.Deliver([]byte(args[0].String()), buffers)
}

func bytesToJS(b []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}

func runKernel(context.Context, []string, stdio) error {
	return errors.New("in a browser, the script of the page starts the kernel")
}

func runLaunch(context.Context, []string, stdio) error {
	return errors.New("the program for browsers cannot listen for a gateway")
}

func runLSP(context.Context, []string, stdio) error {
	return errors.New("the program for browsers is no language server")
}

func runVet(context.Context, []string, stdio) error {
	return errors.New("the program for browsers has no go vet")
}
