package main

import (
	"fmt"
	"runtime"
	"weak"
)

type node struct {
	name   string
	parent weak.Pointer[node]
}

func tryCleanup(f func()) {
	defer func() { fmt.Println(recover()) }()
	f()
}

func main() {
	root := &node{name: "root"}
	child := &node{name: "child", parent: weak.Make(root)}
	fmt.Println(child.parent.Value().name, child.parent == weak.Make(root), child.parent == weak.Make(child))
	fmt.Println(root.parent == weak.Pointer[node]{}, root.parent.Value() == nil, weak.Make[node](nil) == root.parent)
	cache := map[string]weak.Pointer[node]{"root": weak.Make(root)}
	fmt.Println(cache["root"].Value() == root, cache["none"].Value() == nil)
	keys := map[weak.Pointer[node]]int{weak.Make(root): 1}
	keys[weak.Make(root)]++
	fmt.Println(keys[weak.Make(root)], len(keys))

	c := runtime.AddCleanup(root, func(n int) { panic(n) }, 3)
	c.Stop()
	tryCleanup(func() { runtime.AddCleanup[node](nil, func(int) {}, 3) })
	tryCleanup(func() { runtime.AddCleanup(root, func(*node) {}, root) })
	tryCleanup(func() { runtime.AddCleanup(root, func(*node) {}, child) })
	runtime.KeepAlive(root)
	runtime.KeepAlive(child)
}
