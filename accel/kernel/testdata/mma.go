package main

import "github.com/quernlab/quern/accel/kernel"

// Each warp computes a tile of 16 rows and 8 columns of c = a b. The matrices end anywhere.

func productTF32(t kernel.Thread, m, n, k int, a, b, c []float32) {
	g, q := t.Lane()/4, t.Lane()%4
	row, column := 16*t.BlockY(), 8*t.BlockX()
	var sum [4]float32
	for at := 0; at < k; at += 8 {
		var x [4]float32
		var y [2]float32
		for i := range x {
			if r, l := row+g+8*(i%2), at+q+4*(i/2); r < m && l < k {
				x[i] = a[r*k+l]
			}
		}
		for i := range y {
			if l, j := at+q+4*i, column+g; l < k && j < n {
				y[i] = b[l*n+j]
			}
		}
		sum = kernel.MMATF32(t, x, y, sum)
	}
	store(g, q, row, column, m, n, sum, c)
}

func store(g, q, row, column, m, n int, sum [4]float32, c []float32) {
	for i := range 4 {
		if r, j := row+g+8*(i/2), column+2*q+i%2; r < m && j < n {
			c[r*n+j] = sum[i]
		}
	}
}

func productFloat16(t kernel.Thread, m, n, k int, a, b []kernel.Float16, c []float32) {
	g, q := t.Lane()/4, t.Lane()%4
	row, column := 16*t.BlockY(), 8*t.BlockX()
	var sum [4]float32
	for at := 0; at < k; at += 16 {
		var x [8]kernel.Float16
		var y [4]kernel.Float16
		for i := range x {
			if r, l := row+g+8*(i/2%2), at+2*q+i%2+8*(i/4); r < m && l < k {
				x[i] = a[r*k+l]
			}
		}
		for i := range y {
			if l, j := at+2*q+i%2+8*(i/2), column+g; l < k && j < n {
				y[i] = b[l*n+j]
			}
		}
		sum = kernel.MMAFloat16(t, x, y, sum)
	}
	store(g, q, row, column, m, n, sum, c)
}

func productBFloat16(t kernel.Thread, m, n, k int, a, b []kernel.BFloat16, c []float32) {
	g, q := t.Lane()/4, t.Lane()%4
	row, column := 16*t.BlockY(), 8*t.BlockX()
	var sum [4]float32
	for at := 0; at < k; at += 16 {
		var x [8]kernel.BFloat16
		var y [4]kernel.BFloat16
		for i := range x {
			if r, l := row+g+8*(i/2%2), at+2*q+i%2+8*(i/4); r < m && l < k {
				x[i] = a[r*k+l]
			}
		}
		for i := range y {
			if l, j := at+2*q+i%2+8*(i/2), column+g; l < k && j < n {
				y[i] = b[l*n+j]
			}
		}
		sum = kernel.MMABFloat16(t, x, y, sum)
	}
	store(g, q, row, column, m, n, sum, c)
}
