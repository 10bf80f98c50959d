package notebook

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/quernlab/quern/internal/testenv"
)

const small = `{
 "cells": [
  {
   "attachments": {
    "a.png": {}
   },
   "cell_type": "markdown",
   "id": "a",
   "metadata": {},
   "source": [
    "one\n",
    "two <b> & é"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "b",
   "metadata": {
    "tags": [
     "x"
    ]
   },
   "outputs": [
    {
     "data": {
      "application/json": {
       "big": 12345678901234567890
      },
      "image/png": "aGk=\n",
      "text/plain": [
       "3"
      ]
     },
     "metadata": {},
     "output_type": "display_data"
    }
   ],
   "source": []
  }
 ],
 "metadata": {
  "unknown": [
   1.50
  ]
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`

// A notebook written by Jupyter's library is encoded to the same bytes.
func TestRoundTrip(t *testing.T) {
	n, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if n.Cells[0].Source != "one\ntwo <b> & é" || !n.Cells[1].HasTag("x") || n.Cells[1].Count != 3 {
		t.Errorf("read %+v %+v", n.Cells[0], n.Cells[1])
	}
	got, err := n.Encode()
	if err != nil || string(got) != small {
		t.Errorf("%v, written\n%s", err, got)
	}
}

func TestWriteKeepsTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.ipynb")
	if err := os.WriteFile(path, []byte(small), 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := Read(path)
	if err == nil {
		err = n.Write(path)
	}
	info, statErr := os.Stat(path)
	entries, _ := os.ReadDir(filepath.Dir(path))
	if err != nil || statErr != nil || info.Mode().Perm()&0o077 != 0 && filepath.Separator == '/' || len(entries) != 1 {
		t.Errorf("%v %v, mode %v, %d files", err, statErr, info.Mode(), len(entries))
	}
}

func TestWriteFollowsLinks(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "n.ipynb"), filepath.Join(folder, "link.ipynb")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		testenv.Missing(t, "%v", err)
	}
	n, err := Parse([]byte(small))
	if err == nil {
		err = n.Write(link)
	}
	info, _ := os.Lstat(link)
	if got, readErr := os.ReadFile(file); err != nil || readErr != nil || string(got) != small || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%v, %v, %v, written\n%s", err, readErr, info.Mode(), got)
	}
}

// A device must be written to, not replaced by a file.
func TestWriteToADevice(t *testing.T) {
	if os.DevNull != "/dev/null" {
		t.Skip("there is no /dev/null")
	}
	n, err := Parse([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "null")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	err = n.Write(link)
	if info, statErr := os.Stat(os.DevNull); err != nil || statErr != nil || info.Mode().IsRegular() {
		t.Errorf("%v, %v, %v", err, statErr, info.Mode())
	}
}

func TestByteOrderMark(t *testing.T) {
	if n, err := Parse([]byte("\ufeff" + small)); err != nil || len(n.Cells) == 0 {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestNoNotebooks(t *testing.T) {
	for _, in := range []string{"", "x", "[]", "{}", `{"nbformat": 3}`, `{"nbformat": 5}`, "null", `{"nbformat": 4, "cells": [3]}`, `{"nbformat": 4, "cells": [{"source": 3}]}`, `{"nbformat": 4, "cells": {}}`} {
		var format *FormatError
		if _, err := Parse([]byte(in)); !errors.As(err, &format) {
			t.Errorf("Parse(%q): %v", in, err)
		}
	}
}

// Notebooks that can be read can be written, and are equal when they are read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(`{"nbformat": 4, "cells": [null, {"cell_type": "code", "source": ["a", "b"], "outputs": [{"text": ["x"]}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := Parse(b)
		if err != nil {
			return
		}
		once, err := n.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(once)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%v\n%s\n%s", err, once, twice)
		}
	})
}
