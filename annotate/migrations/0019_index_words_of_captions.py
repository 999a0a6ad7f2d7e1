from django.db import migrations

from annotate.site.postgres_index import PostgresIndex

# `annotate.kinds.caption.words.HasWords` asks in the same form.
INDEX = PostgresIndex(
    "caption_words", "annotate_caption", "gin (to_tsvector('simple', left(text, 10000)))"
)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("annotate", "0018_own_images_and_procedures")]

    operations = [migrations.RunPython(INDEX.create, INDEX.drop)]
