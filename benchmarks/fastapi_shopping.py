"""Shopping's API as one would usually write it today: FastAPI, SQLAlchemy 2 and SQLite, at the same addresses.

Endpoints are plain functions with a session each, which FastAPI runs in its threads: so its tutorial has it for SQLite.
The rest is as the documentation of each library has it too: declared models, relationships loaded by joins, a version
column, dependencies for the session, the caller and the membership, and pydantic models from the rows.
"""

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

from argon2 import PasswordHasher
from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel
from sqlalchemy import (
    DateTime,
    Dialect,
    Engine,
    ForeignKey,
    String,
    TypeDecorator,
    case,
    create_engine,
    event,
    func,
    or_,
    select,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, joinedload, mapped_column, relationship, sessionmaker
from sqlalchemy.orm.exc import StaleDataError

__all__ = ["application"]

SESSION_LASTS = timedelta(days=30)
PURCHASED_ITEMS_STAY = timedelta(days=7)
LARGEST_PART = 200


def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


# --- what is stored --------------------------------------------------------------------------------------------------


class UtcDateTime(TypeDecorator[datetime]):
    """A time with its zone, which SQLite does not keep."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


class Base(DeclarativeBase):
    type_annotation_map = {datetime: UtcDateTime}  # noqa: RUF012


class User(Base):
    __tablename__ = "users"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    email: Mapped[str] = mapped_column(String(254), unique=True)
    name: Mapped[str] = mapped_column(String(100))
    password_hash: Mapped[str]


class UserSession(Base):
    __tablename__ = "sessions"

    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    expires_at: Mapped[datetime]
    user: Mapped[User] = relationship()


class Family(Base):
    __tablename__ = "families"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    name: Mapped[str] = mapped_column(String(100))


class Member(Base):
    __tablename__ = "members"

    family_id: Mapped[UUID] = mapped_column(ForeignKey("families.id"), primary_key=True)
    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id"), primary_key=True)
    role: Mapped[str] = mapped_column(String(10))


class Store(Base):
    __tablename__ = "stores"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    family_id: Mapped[UUID] = mapped_column(ForeignKey("families.id"), index=True)
    name: Mapped[str] = mapped_column(String(100))


class ShoppingListItem(Base):
    __tablename__ = "shopping_list_items"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    family_id: Mapped[UUID] = mapped_column(ForeignKey("families.id"), index=True)
    item_id: Mapped[UUID | None]
    name: Mapped[str] = mapped_column(String(100))
    store_id: Mapped[UUID | None] = mapped_column(ForeignKey("stores.id"))
    status: Mapped[str] = mapped_column(String(10), default="pending")
    quantity: Mapped[int | None]
    unit: Mapped[str | None] = mapped_column(String(20))
    notes: Mapped[str | None] = mapped_column(String(500))
    version: Mapped[int] = mapped_column()
    ttl: Mapped[int | None]
    added_by: Mapped[UUID] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    updated_at: Mapped[datetime] = mapped_column(default=now)
    restocked_at: Mapped[datetime | None]

    store: Mapped[Store | None] = relationship()
    adder: Mapped[User] = relationship()

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012

    @property
    def store_name(self) -> str | None:
        return self.store.name if self.store else None

    @property
    def added_by_name(self) -> str:
        return self.adder.name


WITH_NAMES = (joinedload(ShoppingListItem.store), joinedload(ShoppingListItem.adder))


def database(path: Path) -> Engine:
    # The five seconds that it waits by itself for other writers are too few for 32 of them on a busy machine.
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": 60})

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        # As durable as what it is measured against: an answered write survives a power cut.
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")

    Base.metadata.create_all(engine)
    return engine


# --- what is sent and shown ------------------------------------------------------------------------------------------


class Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


class Body(Model):
    model_config = ConfigDict(extra="forbid")


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Status = Literal["pending", "purchased"]


class NewAccount(Body):
    email: Annotated[str, StringConstraints(max_length=254, pattern=r"^[^@\s]+@[^@\s]+$")]
    password: Annotated[str, StringConstraints(min_length=8, max_length=200)]
    name: Name


class SignedIn(Model):
    user_id: UUID
    token: str


class NewFamily(Body):
    name: Name


class FamilyOut(Model):
    family_id: UUID = Field(validation_alias="id")
    name: str


class NewStore(Body):
    name: Name


class StoreOut(Model):
    store_id: UUID = Field(validation_alias="id")
    family_id: UUID
    name: str


class NewItem(Body):
    name: Name
    store_id: UUID | None = None
    quantity: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    unit: Annotated[str, StringConstraints(max_length=20)] | None = None
    notes: Annotated[str, StringConstraints(max_length=500)] | None = None


class StatusChange(Body):
    status: Status
    version: Annotated[int, Field(ge=1)]


class ItemOut(Model):
    shopping_item_id: UUID = Field(validation_alias="id")
    family_id: UUID
    item_id: UUID | None
    name: str
    store_id: UUID | None
    store_name: str | None
    status: Status
    quantity: int | None
    unit: str | None
    notes: str | None
    version: int
    ttl: int | None
    added_by: UUID
    added_by_name: str
    created_at: datetime
    updated_at: datetime
    restocked_at: datetime | None


class Group(Model):
    store_id: UUID | None
    store_name: str | None
    pending: int
    purchased: int


class ShoppingList(Model):
    items: list[ItemOut]
    groups: list[Group]
    next_cursor: str | None


# --- who is calling, and whether they may ----------------------------------------------------------------------------


def opened_session(request: Request) -> Iterator[Session]:
    with request.app.state.sessions() as session:
        yield session


InSession = Annotated[Session, Depends(opened_session)]


def current_user(session: InSession, authorization: Annotated[str, Header()] = "") -> User:
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise HTTPException(401, "Sign in first")
    hashed = sha256(token.encode()).hexdigest()
    found = session.scalar(
        select(UserSession).where(UserSession.token_hash == hashed).options(joinedload(UserSession.user))
    )
    if found is None or found.expires_at <= now():
        raise HTTPException(401, "Sign in first")
    return found.user


CurrentUser = Annotated[User, Depends(current_user)]


def membership(family_id: UUID, session: InSession, user: CurrentUser) -> Member:
    """The caller in the family of the path; for a stranger it is not there."""
    member = session.get(Member, (family_id, user.id))
    if member is None:
        raise HTTPException(404, "Not found")
    return member


InFamily = Annotated[Member, Depends(membership)]


class Conflict(Exception):
    """Somebody was faster."""

    def __init__(self, current: ItemOut) -> None:
        self.current = current


def conflict(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Conflict)
    body = {
        "type": "/problems/version-conflict",
        "title": "It was changed meanwhile",
        "status": 409,
        "current": error.current.model_dump(mode="json", by_alias=True),
    }
    return JSONResponse(body, 409, media_type="application/problem+json")


# --- endpoints -------------------------------------------------------------------------------------------------------

router = APIRouter(prefix="/api/v1")
LIST = "/families/{family_id}/shopping-list"


@router.post("/accounts", status_code=201)
def sign_up(data: NewAccount, session: InSession) -> SignedIn:
    user = User(id=uuid4(), email=data.email, name=data.name, password_hash=PasswordHasher().hash(data.password))
    token = secrets.token_urlsafe(32)
    hashed = sha256(token.encode()).hexdigest()
    session.add_all([user, UserSession(token_hash=hashed, user=user, expires_at=now() + SESSION_LASTS)])
    session.commit()
    return SignedIn(user_id=user.id, token=token)


@router.post("/families", status_code=201, response_model=FamilyOut)
def create_family(data: NewFamily, session: InSession, user: CurrentUser) -> Family:
    family = Family(id=uuid4(), name=data.name)
    session.add(family)
    session.flush()
    session.add(Member(family_id=family.id, user_id=user.id, role="admin"))
    session.commit()
    return family


@router.post("/families/{family_id}/stores", status_code=201, response_model=StoreOut)
def add_store(data: NewStore, session: InSession, member: InFamily) -> Store:
    if member.role != "admin":
        raise HTTPException(403, "Admins only")
    store = Store(family_id=member.family_id, name=data.name)
    session.add(store)
    session.commit()
    return store


@router.get(LIST)
def shopping_list(
    session: InSession,
    member: InFamily,
    limit: Annotated[int, Query(ge=1, le=LARGEST_PART)] = 50,
    cursor: Annotated[int, Query(ge=0)] = 0,
) -> ShoppingList:
    """By store name and unassigned last, pending first, newest first; the groups count all of it."""
    there = (
        ShoppingListItem.family_id == member.family_id,
        or_(ShoppingListItem.ttl.is_(None), ShoppingListItem.ttl > int(now().timestamp())),
    )
    items = session.scalars(
        select(ShoppingListItem)
        .outerjoin(ShoppingListItem.store)
        .where(*there)
        .order_by(
            Store.name.is_(None),
            Store.name,
            ShoppingListItem.status,
            ShoppingListItem.created_at.desc(),
            ShoppingListItem.id,
        )
        .options(*WITH_NAMES)
        .offset(cursor)
        .limit(limit + 1)
    ).all()
    counts = session.execute(
        select(
            ShoppingListItem.store_id,
            Store.name,
            func.sum(case((ShoppingListItem.status == "pending", 1), else_=0)),
            func.sum(case((ShoppingListItem.status == "purchased", 1), else_=0)),
        )
        .outerjoin(ShoppingListItem.store)
        .where(*there)
        .group_by(ShoppingListItem.store_id, Store.name)
        .order_by(Store.name.is_(None), Store.name)
    )
    return ShoppingList(
        items=[ItemOut.model_validate(item) for item in items[:limit]],
        groups=[
            Group(store_id=store_id, store_name=name, pending=pending, purchased=purchased)
            for store_id, name, pending, purchased in counts
        ],
        next_cursor=str(cursor + limit) if len(items) > limit else None,
    )


def found_item(shopping_item_id: UUID, session: InSession, member: InFamily) -> ShoppingListItem:
    item = session.get(ShoppingListItem, shopping_item_id, options=WITH_NAMES)
    if item is None or item.family_id != member.family_id or (item.ttl and item.ttl <= now().timestamp()):
        raise HTTPException(404, "Not found")
    return item


FoundItem = Annotated[ShoppingListItem, Depends(found_item)]


@router.get(LIST + "/{shopping_item_id}", response_model=ItemOut)
def shopping_item(item: FoundItem) -> ShoppingListItem:
    return item


@router.post(LIST, status_code=201, response_model=ItemOut)
def add_to_list(data: NewItem, session: InSession, user: CurrentUser, member: InFamily) -> ShoppingListItem:
    if data.store_id is not None:
        store = session.get(Store, data.store_id)
        if store is None or store.family_id != member.family_id:
            raise HTTPException(404, "Not found")
    item = ShoppingListItem(**data.model_dump(), family_id=member.family_id, added_by=user.id)
    session.add(item)
    session.commit()
    return item


@router.patch(LIST + "/{shopping_item_id}/status", response_model=ItemOut)
def check_off(data: StatusChange, item: FoundItem, session: InSession) -> ShoppingListItem:
    """Check a thing off, or put it back. What is purchased goes by itself seven days later."""
    if item.version != data.version:
        raise Conflict(ItemOut.model_validate(item))
    if item.status == data.status:
        return item
    item.status = data.status
    item.ttl = int((now() + PURCHASED_ITEMS_STAY).timestamp()) if data.status == "purchased" else None
    item.updated_at = now()
    try:
        session.commit()
    except StaleDataError:
        session.rollback()
        raise Conflict(ItemOut.model_validate(item)) from None
    return item


def application(path: Path) -> FastAPI:
    """The API on a database of its own."""
    app = FastAPI(title="Shopping")
    # What was written is answered from memory, without reading it again.
    app.state.sessions = sessionmaker(database(path), expire_on_commit=False)
    app.add_exception_handler(Conflict, conflict)
    app.include_router(router)
    return app
