{{! What `stackbuild render -t bake` writes.  The names that may be used are listed in
    src/render/pipeline.c, the template language in src/render/template.h. }}
# {{stack|comment}}: every cell of {{recipe|comment}}, built by BuildKit, as many at once as it has workers
#
#   stackbuild render {{recipe|comment}} -t dockerfile -t bake{{#variant}} --variant {{variant|comment}}{{/variant}}
#   docker buildx bake -f out/{{stack|comment}}/docker-bake.hcl
#
# Run it in the recipe's directory.  Variables of the environment:
#   OUT        where the rendered files are, from there (default: where render puts them)
#   REGISTRY   what goes before the image's name, with its slash: "ghcr.io/me/"; --push pushes
#   CACHE      a repository for layers: "ghcr.io/me/{{stack|comment}}-cache"; needs a builder that can
#              export them: docker buildx create --use
{{#secrets}}
#   {{.|comment}}   a secret: what the file that is mounted holds
{{/secrets}}
#
# {{generated|comment}}

variable "OUT" {
  default = {{out|json}}
}
variable "REGISTRY" {
  default = ""
}
variable "CACHE" {
  default = ""
}

group "default" {
  targets = [{{#cells}}{{id|json}}{{^last}}, {{/last}}{{/cells}}]
}
{{#cells}}

target {{id|json}} {
  context    = OUT
  dockerfile = {{dockerfile|json}}
{{#app}}
  contexts   = { app = "." }
{{/app}}
{{#platform}}
  platforms  = [{{platform|json}}]
{{/platform}}
  tags       = [{{image|code}}]
{{#secrets}}
{{#first}}
  secret     = [{{/first}}"id={{.|plain}},env={{.|plain}}"{{^last}}, {{/last}}{{#last}}]
{{/last}}
{{/secrets}}
  cache-from = CACHE == "" ? [] : ["type=registry,ref=${CACHE}:{{tag|plain}}"]
  cache-to   = CACHE == "" ? [] : ["type=registry,ref=${CACHE}:{{tag|plain}},mode=max"]
}
{{/cells}}
