#include <jansson.h>
#include <string.h>

#include "fetch/fetch.h"
#include "internal.h"

/* Reads the record of a run. The file is not trusted, so each number has a limit. */

enum { GPUS_MAX = 64, NOTES_MAX = 100 };

static double
number(const json_t *map, const char *key, double least, double most)
{
	double n = json_number_value(json_object_get(map, key));

	return n >= least && n <= most ? n : n > most ? most : least;
}

static enum verdict
verdict(const json_t *map)
{
	const char *word = json_string_value(json_object_get(map, "verdict"));

	for (int i = 0; word && i < VERDICTS; i++)
		if (!strcmp(word, use_verdict_words[i]))
			return (enum verdict)i;
	return VERDICT_UNKNOWN;
}

static struct names
texts(struct arena *a, const json_t *list)
{
	struct names out = { 0 };
	const json_t *text;
	size_t i;

	json_array_foreach(list, i, text)
	{
		if (json_is_string(text) && i < NOTES_MAX)
			list_push(a, &out,
				  arena_copy(a, json_string_value(text), json_string_length(text)));
	}
	return out;
}

static struct use_gpu
read_gpu(struct arena *a, const json_t *map)
{
	const json_t *busy = json_object_get(map, "utilisation"), *p;
	const json_t *memory = json_object_get(map, "memory_mib");
	struct host_gpu *gpu = arena_new_of(a, struct host_gpu);
	const char *name = fetch_json_text(a, map, "name");
	struct use_gpu g = { .gpu = gpu,
			     .verdict = verdict(map),
			     .by_time = json_is_true(json_object_get(map, "by_time")),
			     .busy_mean = number(busy, "mean", -1, 100),
			     .busy_peak = (int)number(busy, "peak", -1, 100),
			     .mem_mean_mib = number(memory, "mean", 0, 1e9),
			     .mem_peak_mib = (size_t)number(memory, "peak", 0, 1e9),
			     .others = texts(a, json_object_get(map, "others")) };
	size_t i;

	*gpu = (struct host_gpu){ .name = name ? name : "unnamed",
				  .mem_mib = (size_t)number(memory, "total", 0, 1e9) };
	json_array_foreach(json_object_get(map, "processes"), i, p)
	{
		name = fetch_json_text(a, p, "name");
		if (i < NOTES_MAX)
			list_push(a, &g.processes,
				  (struct use_process){
					  .pid = (int)number(p, "pid", 0, 1e9),
					  .name = name ? name : "?",
					  .busy_peak = (int)number(p, "utilisation_peak", -1, 100),
					  .mem_peak_mib =
						  (size_t)number(p, "memory_peak_mib", 0, 1e9) });
	}
	json_array_foreach(json_object_get(map, "points"), i, p)
	{
		if (i < POINTS_MAX)
			list_push(a, &g.points,
				  (struct use_point){ .from_s = number(p, "from", 0, 1e9),
						      .to_s = number(p, "to", 0, 1e9),
						      .busy = number(p, "utilisation", -1, 100),
						      .mem_mib = number(p, "memory_mib", 0, 1e9) });
	}
	return g;
}

bool
use_read(struct arena *a, const char *text, size_t n, struct use *out)
{
	static const char begin[] = USE_METADATA;
	const char *start = memmem(text, n, begin, sizeof(begin) - 1), *end = NULL;
	json_auto_t *root = NULL;
	const json_t *gpu;
	size_t i;

	if (start) {
		start += sizeof(begin) - 1;
		end = memmem(start, n - (size_t)(start - text), "</metadata>", 11);
	}
	root = start && end ? json_loadb(start, (size_t)(end - start), 0, NULL) :
			      json_loadb(text, n, 0, NULL);
	if (!json_is_array(json_object_get(root, "gpus")) ||
	    !json_is_string(json_object_get(root, "verdict")))
		return false;
	*out = (struct use){ .verdict = verdict(root),
			     .why = fetch_json_text(a, root, "why"),
			     .source = fetch_json_text(a, root, "source"),
			     .command = fetch_json_text(a, root, "command"),
			     .end = { .status = (int)number(root, "status", 0, 255),
				      .seconds = number(root, "seconds", 0, 1e9) },
			     .notes = texts(a, json_object_get(root, "notes")) };
	json_array_foreach(json_object_get(root, "gpus"), i, gpu)
	{
		if (i < GPUS_MAX)
			list_push(a, &out->gpus, read_gpu(a, gpu));
	}
	return true;
}
