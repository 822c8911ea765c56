#include "ptx.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses the text of a kernel into code. */

/* clang-format off */
static const char *const types[] = { "", "pred", "b16", "b32", "b64", "u32", "u64", "s32", "s64", "f16", "bf16", "f32", "f64" };
static const char *const ops[] = {
	"abs", "add", "and", "atom", "bar", "bra", "cvt", "cvta", "fma", "ld", "mad", "max",
	"min", "mov", "mul", "neg", "or", "ret", "selp", "setp", "shfl", "shl", "shr", "st"
};
/* clang-format on */

enum { OPS = sizeof(ops) / sizeof(*ops), TYPES = sizeof(types) / sizeof(*types), NAMES = 256 };

struct name {
	char text[PTX_NAME];
	size_t value;
};

struct reading {
	struct ptx_kernel *k;
	struct name registers[PTX_REGISTERS], shared[NAMES], labels[NAMES], jumps[NAMES];
	size_t nregisters, nshared, nlabels, njumps;
};

void
ptx_unknown(const char *what, const char *text)
{
	fprintf(stderr, "ptx: %s: %.*s\n", what, (int)strcspn(text, "\n"), text);
	exit(70);
}

static void
put(struct name *all, size_t *n, size_t max, const char *text, size_t length, size_t value)
{
	if (*n == max || length >= PTX_NAME)
		ptx_unknown("more names than the interpreter has room for", text);
	memcpy(all[*n].text, text, length);
	all[*n].text[length] = '\0';
	all[(*n)++].value = value;
}

static const struct name *
find(const struct name *all, size_t n, const char *text, size_t length)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(all[i].text, text, length) && !all[i].text[length])
			return &all[i];
	return NULL;
}

static size_t
word(const char *s)
{
	size_t n = 0;

	while (s[n] && (isalnum((unsigned char)s[n]) || strchr("_$%.", s[n])))
		n++;
	return n;
}

static unsigned
register_of(struct reading *r, const char *s, size_t n)
{
	const struct name *found = find(r->registers, r->nregisters, s, n);

	if (found)
		return (unsigned)found->value;
	put(r->registers, &r->nregisters, PTX_REGISTERS, s, n, r->nregisters);
	return (unsigned)r->nregisters - 1;
}

static const char *
blanks(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

/* Parses "{%r1, %r2}" or "{0,%rs4}". */
static const char *
read_pair(struct reading *r, const char *s, struct ptx_operand *o)
{
	size_t n;

	o->kind = PAIR;
	s = blanks(s + 1);
	n = word(s);
	o->zero = n == 1 && *s == '0';
	o->reg = o->zero ? 0 : register_of(r, s, n);
	s = blanks(blanks(s + n) + 1);
	n = word(s);
	o->high = register_of(r, s, n);
	return blanks(s + n) + 1;
}

/* Returns whether it is a special register, such as %tid.x. */
static bool
is_special(const char *s, size_t n, struct ptx_operand *o)
{
	static const char *const names[] = { "%tid.", "%ntid.", "%ctaid.", "%nctaid." };

	for (size_t i = 0; i < 4; i++)
		if (n == strlen(names[i]) + 1 && !strncmp(s, names[i], n - 1)) {
			o->kind = SPECIAL;
			o->special = "tncg"[i];
			o->axis = (char)(s[n - 1] - 'x');
			return true;
		}
	return false;
}

static const char *
read_operand(struct reading *r, const char *s, struct ptx_operand *o)
{
	const struct name *shared, *param = NULL;
	bool address = *s == '[';
	char *end;
	size_t n;

	s = blanks(s + address);
	if (*s == '{')
		return read_pair(r, s, o);
	n = word(s);
	shared = find(r->shared, r->nshared, s, n);
	for (size_t i = 0; i < r->k->nparams; i++)
		if (strlen(r->k->params[i]) == n && !strncmp(r->k->params[i], s, n)) {
			o->kind = NUMBER;
			o->number = i;
			param = r->shared;
		}
	if (shared) {
		o->kind = NUMBER;
		o->number = shared->value;
	} else if (!param && *s == '%' && !is_special(s, n, o)) {
		o->kind = REGISTER;
		o->reg = register_of(r, s, n);
	} else if (!param && (isdigit((unsigned char)*s) || *s == '-')) {
		o->kind = NUMBER;
		/* 0f3F800000 and 0d3FF0000000000000 are the bits of a float. */
		o->number = s[0] == '0' && (s[1] == 'f' || s[1] == 'd') ?
				    strtoull(s + 2, &end, 16) :
				    (uint64_t)strtoll(s, &end, 0);
		n = (size_t)(end - s);
	} else if (!param && o->kind != SPECIAL) {
		ptx_unknown("an operand", s);
	}
	s = blanks(s + n);
	if (address && *s == '+') {
		o->number += (uint64_t)strtoll(s + 1, &end, 0);
		s = blanks(end);
	}
	return address ? blanks(s + 1) : s;
}

/* Parses "setp.gt.u32": the operation, modifiers, and one or two types. */
static const char *
read_operation(const char *s, struct ptx_code *c)
{
	size_t n = word(s), length = strcspn(s, ". \t;"), op = 0;
	enum ptx_type found[2] = { T_NONE, T_NONE };
	unsigned nfound = 0;

	while (op < OPS && (strlen(ops[op]) != length || strncmp(ops[op], s, length) != 0))
		op++;
	if (op == OPS)
		ptx_unknown("the interpreter does not know the operation", s);
	c->op = (enum ptx_op)op;
	for (const char *p = s + length, *end = s + n; p < end;) {
		size_t part = 1 + strcspn(p + 1, ". \t;"), t = 1;

		part = part > (size_t)(end - p) ? (size_t)(end - p) : part;
		while (t < TYPES &&
		       (strlen(types[t]) != part - 1 || strncmp(types[t], p + 1, part - 1) != 0))
			t++;
		if (t < TYPES && nfound < 2)
			found[nfound++] = (enum ptx_type)t;
		else if (strlen(c->how) + part < sizeof(c->how))
			strncat(c->how, p, part);
		else
			ptx_unknown("an operation", s);
		p += part;
	}
	c->shared = strstr(c->how, ".shared");
	c->param = strstr(c->how, ".param");
	c->wide = strstr(c->how, ".wide");
	c->type = found[0];
	c->from = nfound > 1 ? found[1] : found[0];
	return blanks(s + n);
}

static void
read_code(struct reading *r, const char *s)
{
	struct ptx_code *c = &r->k->code[r->k->n++];
	size_t n;

	if (r->k->n == PTX_CODE)
		ptx_unknown("the kernel is too long", r->k->name);
	if (*s == '@') {
		c->unless = s[1] == '!';
		s += 1 + c->unless;
		n = word(s);
		c->guard = register_of(r, s, n) + 1;
		s = blanks(s + n);
	}
	s = read_operation(s, c);
	if (c->op == OP_BRA) {
		put(r->jumps, &r->njumps, NAMES, s, word(s), r->k->n - 1);
		return;
	}
	for (size_t i = 0; *s && *s != ';'; i++) {
		if (i == PTX_OPERANDS)
			break; /* of shfl.sync: the mask, which names all lanes */
		s = read_operand(r, s, &c->a[i]);
		if (*s == '|') { /* a predicate as second result, which is unused */
			s += 1;
			s += word(s);
		}
		s = blanks(s);
		s = *s == ',' ? blanks(s + 1) : s;
	}
}

/* Parses ".shared .align 8 .b8 NAME[2048]". */
static void
read_shared(struct reading *r, const char *s)
{
	const char *name = strstr(s, ".b8"), *open = strchr(s, '[');
	unsigned long align = strtoul(strstr(s, ".align") + 6, NULL, 10);

	name = blanks(name + 3);
	r->k->shared = (r->k->shared + align - 1) / align * align;
	put(r->shared, &r->nshared, NAMES, name, (size_t)(open - name), r->k->shared);
	r->k->shared += strtoul(open + 1, NULL, 10);
}

/* Parses one statement, up to `;`, or a label, "$L__BB1_2:". */
static const char *
read_statement(struct reading *r, const char *s)
{
	size_t n = word(s);

	if (*s == '{' || *s == '}')
		return s + 1;
	if (n && s[n] == ':') {
		put(r->labels, &r->nlabels, NAMES, s, n, r->k->n);
		return s + n + 1;
	}
	if (!strncmp(s, ".shared", 7))
		read_shared(r, s);
	else if (*s != '.')
		read_code(r, s);
	return s + strcspn(s, ";") + 1;
}

/* Replaces comments with blanks. */
static char *
without_remarks(const char *text, size_t n)
{
	char *copy = calloc(n + 1, 1);

	memcpy(copy, text, n);
	for (char *p = copy; (p = strstr(p, "//"));)
		while (*p && *p != '\n')
			*p++ = ' ';
	return copy;
}

struct ptx_kernel *
ptx_read(const char *text, const char *name)
{
	struct reading *r = calloc(1, sizeof(*r));
	const char *head = text, *body, *end, *s;
	char *code;

	r->k = calloc(1, sizeof(*r->k));
	do
		head = strstr(head + 1, name);
	while (head && (strncmp(head - 7, ".entry ", 7) != 0 || head[strlen(name)] != '('));
	if (!head)
		ptx_unknown("the module has no kernel", name);
	snprintf(r->k->name, PTX_NAME, "%s", name);
	body = strstr(head, "\n{\n");
	end = strstr(head, "\n\n}\n"); /* inline assembly has lines of a `}`, too */
	for (s = head; (s = strstr(s, name)) && s < body; s += word(s))
		if (s > head && r->k->nparams < PTX_PARAMS)
			snprintf(r->k->params[r->k->nparams++], PTX_NAME, "%.*s", (int)word(s), s);
	code = without_remarks(body + 2, (size_t)(end - body - 2));
	for (s = blanks(code); *s; s = blanks(s))
		s = read_statement(r, s);
	for (size_t i = 0; i < r->njumps; i++) {
		const struct name *to =
			find(r->labels, r->nlabels, r->jumps[i].text, strlen(r->jumps[i].text));

		if (!to)
			ptx_unknown("a branch to nowhere", r->jumps[i].text);
		r->k->code[r->jumps[i].value].target = to->value;
	}
	free(code);
	return r->k;
}
