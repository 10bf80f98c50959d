// The PTX of this file is structs.ptx, without the code of the kernel: NVRTC has made it with --gpu-architecture=compute_80 -G.
enum Color { red, green };
struct Inner { short s; double d; };
struct Base { int i; };
struct Derived : Base { float f; };
struct __align__(16) Outer {
	float a;
	int n[3];
	Inner in[2];
	union { float f; int i; } u;
	unsigned b : 3, c : 9;
	bool t;
	char ch;
	const float *q;
	Color color;
	Derived derived;
};
extern "C" __global__ void k(Outer o, float (*x)[4][5], const unsigned char *y, float4 v, Color c, unsigned long long l, void *any, const Outer *p) {}
