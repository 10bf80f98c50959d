package data

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// dropFromPageCache drops the pages of a file from the memory of the system, and checks with mincore
// that they are gone. It returns why they are not, "" if they are. Only pages that are written to the disk
// and that nobody has mapped can be dropped.
func dropFromPageCache(path string) (reason string) {
	f, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err.Error()
	}
	if info.Size() == 0 || !info.Mode().IsRegular() {
		return ""
	}
	if err := f.Sync(); err != nil {
		return "cannot write " + path + " to the disk: " + err.Error()
	}
	if err := unmapPages(path); err != nil {
		return err.Error()
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return "cannot drop " + path + " from the page cache: " + err.Error()
	}
	share, err := residentShare(int(f.Fd()), info.Size())
	if err != nil {
		return err.Error()
	}
	if share > 0.05 {
		return fmt.Sprintf("%.0f %% of %s stays in the page cache", 100*share, path)
	}
	return ""
}

// unmapPages gives back the pages of a file that this process has mapped. They are read again when they
// are used.
func unmapPages(path string) error {
	absolute, err := filepath.Abs(path)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return err
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return err
	}
	defer maps.Close()
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		// 7f3c…-7f3d… r--s 00000000 fe:00 1234    /path of the file
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || !strings.HasSuffix(lines.Text(), " "+absolute) || !strings.HasSuffix(fields[1], "s") {
			continue
		}
		var begin, end uintptr
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &begin, &end); err != nil {
			return err
		}
		if _, _, failed := unix.Syscall(unix.SYS_MADVISE, begin, end-begin, unix.MADV_DONTNEED); failed != 0 {
			return fmt.Errorf("cannot give back the mapped pages of %s: %w", path, failed)
		}
	}
	return lines.Err()
}

// residentShare returns which share of the pages of a file is in memory.
func residentShare(fd int, size int64) (float64, error) {
	pages, err := unix.Mmap(fd, 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, fmt.Errorf("cannot map a file: %w", err)
	}
	defer unix.Munmap(pages) //nolint:errcheck // nothing is lost
	in := make([]byte, (int(size)+os.Getpagesize()-1)/os.Getpagesize())
	_, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&pages[0])), uintptr(len(pages)), uintptr(unsafe.Pointer(&in[0])))
	if failed != 0 {
		return 0, fmt.Errorf("cannot ask which pages of a file are in memory: %w", failed)
	}
	count := 0
	for _, b := range in {
		count += int(b & 1)
	}
	return float64(count) / float64(len(in)), nil
}
