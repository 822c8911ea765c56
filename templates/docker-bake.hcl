{{! What `stackbuild render -t bake` writes.  The names that may be used are listed in
    src/render/pipeline.c, the template language in src/render/template.h. }}
# {{stack|comment}}: every cell of {{recipe|comment}}, built by BuildKit, in parallel
#
#   stackbuild render {{recipe|word}} -t dockerfile -t bake{{#variant}} --variant {{variant|word}}{{/variant}}
#   docker buildx bake -f out/{{stack|comment}}/docker-bake.hcl{{#beside}} --allow=fs.read={{.|word}}{{/beside}}
#
# Run it in the recipe's directory. Environment variables:
#   OUT        directory of the rendered files (default: the output directory of render)
#   REGISTRY   prefix of the image's name, such as "ghcr.io/me/"; --push pushes the images
#   CACHE      a repository for layers, such as "ghcr.io/me/{{stack|comment}}-cache"; it needs a builder that can
#              export them: docker buildx create --use
{{#secrets}}
#   {{.|comment}}   a secret: the contents of the mounted file
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
{{#contexts}}
{{#first}}
  contexts   = { {{/first}}{{name|json}} = {{path|json}}{{^last}}, {{/last}}{{#last}} }
{{/last}}
{{/contexts}}
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
