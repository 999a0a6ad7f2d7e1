import accounts.models
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

from shared import user_names
from shared.database.triggers import AppendOnly

TEAM_CHANGES = AppendOnly(
    "accounts_teamchange",
    "team_change",
    "changes of teams are only appended, never changed or deleted",
)


def make_the_first_team(apps, schema_editor):
    """A team for what belongs to no other."""
    apps.get_model("accounts", "Team").objects.using(schema_editor.connection.alias).create(
        slug="default", name="Default team", created_at=timezone.now()
    )


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(blank=True, help_text='what the token is for', max_length=100)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('hint', models.CharField(help_text='how the token begins', max_length=6)),
                ('scopes', models.JSONField(default=accounts.models.all_scopes, help_text='values of Scope, in their order')),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name': 'API token',
                'indexes': [models.Index(fields=['expires_at'], name='api_token_by_end')],
                'constraints': [models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('created_at'))), name='api_token_ends_after_it_begins')],
            },
        ),
        migrations.CreateModel(
            name='IdempotencyKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='idempotency_keys', to=settings.AUTH_USER_MODEL)),
                ('key', models.CharField(max_length=255)),
                ('digest', models.CharField(help_text="of the request's address and body", max_length=64)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('body', models.TextField(blank=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='idempotency_key_by_age')],
                'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='idempotency_key_once_per_user')],
            },
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=100, unique=True)),
                ('name', models.CharField(max_length=100)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['name', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='accounts.team')),
                ('role', models.CharField(choices=[('RESEARCHER', 'researcher'), ('REVIEWER', 'reviewer'), ('VIEWER', 'viewer')], max_length=10)),
                ('note', models.CharField(blank=True, help_text='whom it is for', max_length=100)),
                ('email', models.EmailField(blank=True, help_text='where the link was sent, if by e-mail', max_length=254)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('accepted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('accepted_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('role__in', ['RESEARCHER', 'REVIEWER', 'VIEWER'])), name='invitation_role_is_known'), models.CheckConstraint(condition=models.Q(models.Q(('accepted_at', None), ('accepted_by', None)), models.Q(('accepted_at__isnull', False), ('accepted_by__isnull', False), ('revoked_at', None)), _connector='OR'), name='invitation_accepted_by_somebody')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='accounts.team')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('role', models.CharField(choices=[('RESEARCHER', 'researcher'), ('REVIEWER', 'reviewer'), ('VIEWER', 'viewer')], max_length=10)),
                ('joined_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('user', 'team'), name='member_of_a_team_once'), models.CheckConstraint(condition=models.Q(('role__in', ['RESEARCHER', 'REVIEWER', 'VIEWER'])), name='membership_role_is_known'), models.CheckConstraint(condition=models.Q(('ended_at', None), ('ended_at__gte', models.F('joined_at')), _connector='OR'), name='membership_ends_after_it_began')],
            },
        ),
        migrations.CreateModel(
            name='TeamChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='changes', to='accounts.team')),
                ('actor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='team_changes', to=settings.AUTH_USER_MODEL)),
                ('at', models.DateTimeField()),
                ('text', models.CharField(max_length=300)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.RunPython(TEAM_CHANGES.install, TEAM_CHANGES.remove),
        user_names.ONCE,
        migrations.RunPython(make_the_first_team, migrations.RunPython.noop),
    ]
