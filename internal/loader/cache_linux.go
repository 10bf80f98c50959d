package loader

import (
	"bytes"
	"encoding/binary"
	"os"
)

// cacheFile is the cache of the dynamic loader, which ldconfig writes as root.
const cacheFile = "/etc/ld.so.cache"

// Sizes of the format glibc-ld.so.cache1.1.
const (
	cacheMagic  = "glibc-ld.so.cache1.1"
	cacheHeader = 48
	cacheEntry  = 24
)

// cached returns the paths of a library in the loader's cache.
func cached(name string) []string {
	text, err := os.ReadFile(cacheFile)
	if err != nil {
		return nil // systems with another C library have no cache
	}
	return parseCache(text, name)
}

// parseCache parses a cache, which may follow one in an older format.
func parseCache(text []byte, name string) []string {
	at := bytes.Index(text, []byte(cacheMagic))
	if at < 0 || len(text)-at < cacheHeader {
		return nil
	}
	text = text[at:]
	count := uint64(binary.NativeEndian.Uint32(text[20:]))
	if cacheHeader+count*cacheEntry > uint64(len(text)) {
		return nil
	}
	var paths []string
	for i := range count {
		entry := text[cacheHeader+i*cacheEntry:]
		key, value := word(text, binary.NativeEndian.Uint32(entry[4:])), word(text, binary.NativeEndian.Uint32(entry[8:]))
		if key == name && value != "" {
			paths = append(paths, value)
		}
	}
	return paths
}

// word returns the zero-terminated string at an offset.
func word(text []byte, at uint32) string {
	if uint64(at) >= uint64(len(text)) {
		return ""
	}
	w, _, found := bytes.Cut(text[at:], []byte{0})
	if !found {
		return ""
	}
	return string(w)
}
