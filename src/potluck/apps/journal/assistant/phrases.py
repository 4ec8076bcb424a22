"""The grammar of questions: what they ask for, what is counted, single sessions and runs of days, and fillers.

Each line is a category, what it means, and the ways to say it; `chart.py` explains the notation.
"""

PHRASES = """
Top ask=count: how many | the? total? number of | the? count of? | total? amount of | how many of | count up? | the
    total of | how many in total | how many total | what number of | the tally of | tally of | how many overall
Top ask=often: how often | how frequently | how regularly | how many times | the? number of times | how many separate
    times | how many different times | on how many occasions | often | frequently | how many different occasions
Start ask=often: the? times Subject | all the times Subject
Top ask=much: how much
Top ask=long: how long
Top ask=hard: how hard | how intense | how tough | how intensely | how hard on average | on a scale of/from?
    1/0/one/zero to 10/ten ,? how hard/intense/tough | how hard/intense/tough on a scale of/from? 1/0/one/zero to 10/ten
Top ask=when: when | what date | which date | on what date | on which date | the? date of
Top ask=list: which Sessions | what Sessions | list out? | show me? | give me | find me? | list every/all Sessions |
    show me? every/all Sessions | every Sessions | which of my Sessions | which ones | which of them | display | see |
    let me see | pull up | a list of | give me the dates of | the dates of
Top ask=which: which | which one/ones | name me? | name the | which was it | what are the
Top two=yes: of the/these/those two | of both | of the pair
Top ask=summary: Own? stats/statistics/numbers/figures for/of? | what are Own stats/numbers | what did Subject do |
    what have Subject done | what did Subject train/practise/practice | what did Subject work/worked on | what
    happened | what has Subject done | what was Subject doing | tell me about |
    summarise/summarize/summary/recap/overview of/for? | a summary/recap/overview of | what was | what were | what is
    in/on | review of? | what have Subject been doing | what have Subject been working on | what does it say for |
    what did Subject get up to | what about | what went on
Top ask=how: like | how am i doing | how is it going | how was | how were | how is | how are | how has | how have |
    how did | how does | how do | how had
Top ask=quotes: what did Subject Write about/on/regarding/down? | what have Subject Write about/on? | what do Subject
    Write about/on | what has Subject Write about/on? | what did Subject learn about/on? | anything about/on? | is
    there anything/something about/on? | what does Own? journal say about | what do Own? notes/entries say about |
    Own? notes | where did Subject mention | where do Subject mention | what does it say about | what do i know about
    | what did Subject think about | Write about | entries that mention
Write: write/wrote/written/note/noted/say/said/mention/mentioned/record | recorded/think/know/notes/jot/log
Start ask=whether: Aux Subject | was/were/is/are/have/has there been? | Aux Own
Top ask=since: how long since | how long is it since | how long has it been since | how long was it since | how many
    Units since | how many Units is it since | how many Units has it been since | how many Units ago | how many Units
    have passed since | how many Units has passed since | how many Units have gone by since | how long ago | the?
    number of days since | the? days since | the? time since | how much time since | how much time has passed since |
    weeks since | how many Units have i gone since | how many Units went by since
Units: days/weeks/months
Top compare=yes: compare | comparison of/between? | compared | the? difference between | difference in | the? ratio
    of/between? | how does | how do | stack up | how did | comparing | contrast | the? breakdown of? | the? split
    between/of? | break down | broken down | divided | by
Top share=yes: what? percentage of? | what percent of? | which percentage of? | what? share of? | what? proportion of?
    | what? fraction of? | what part of | what % of? | % of? | how many percent of? | percent of | how much of | the?
    percentage | as a percentage | in percent | what portion of
Top advice=yes: what should i Improve next/more/most/better? | what could i Improve next/more/most/better? | what must
    i Improve | what do i need to Improve | what are/is my Weak | where do i struggle most? | what do i struggle with
    most? | what should i be Improve | any/some? advice for me
Improve: work/working on | focus/focusing on | improve/improving | practise/practice/train/drill/change | do better
Weak: weakness/weaknesses | weak/weakest points/point/spots/spot? | biggest
    weakness/problem/mistake/weaknesses/problems/mistakes | common mistakes | problems
Top that=yes: that day | that session | that one | that time | on that day | in that session | that entry | about it
Start follow=yes: and what about | what about | how about | and how about | and | but | and for | same for | what of |
    now for | ok and | and then
Top who=yes: who | whose | which coach | which of my coaches
Session: training/bjj? session/sessions | trainings | workout/workouts | jiu jitsu session/sessions |
    practice/practices | training | class/classes | entry/entries | journal entry/entries | visits | training days?
    sessions | mat sessions | jiu - jitsu sessions
Sessions: Session
Top noun=sessions: Session | by sessions | sessions count | times Subject trained/train | occasions | out of/of all my
    sessions | of my sessions | out of my sessions
Top noun=days: day/days | different days | separate days | distinct days | training days | calendar days | days on the
    mat/mats | unique days
Top noun=minutes: hours/minutes | hour | by minutes/hours/time/duration | mat? hours/minutes | training
    hours/minutes/time | total? mat time | time on the mat/mats | hours/minutes on the mat/mats | time | mat - time |
    duration | hours of training | minutes of training | hours of mat time | training? volume | time training | time
    spent training | time in training | hours of bjj | in hours/minutes
Top noun=length: session length/lengths/duration | length of Own? Session? | duration of Own? Session | lengths |
    length | Session durations/lengths
Top noun=rounds: sparring? rounds | by rounds | round | number of rounds | rounds of sparring | live rounds | sparring
    rounds
Top noun=intensity: training? intensity/intensities | by intensity | effort | rpe | intensity
    level/levels/score/rating/ratings | session intensity | effort level
Top noun=load: training? load | workload | training workload | session load
Top noun=weeks: weeks | training weeks | different weeks | calendar weeks
Top noun=months: months | different months | calendar months
Top noun=tags: by/per tag/tags/topic | tags | tag | topics | topic | techniques | technique | positions | position |
    themes
Top total=yes: total | in total | altogether | overall | combined | in all | all told | all together | sum of
Top avg=yes: on average | average | an average | mean | typical | typically | usual | usually | normally | in general
    | averages | averaging | the average of | my average | mean number of | average number of | on avg | generally |
    normal | is normal for me
Unit =week: week/weeks
Unit =month: month/months
Unit =day: day/days
Unit =year: year/years
Unit =quarter: quarter/quarters
Per: per | a | an | each | every | / | in an/a/any/one/single/every/each? single/given? | in the same | over a | for
    each
Top per: Per Unit
Top per=week: weekly
Top per=month: monthly
Top per=day: daily
Top per=year: yearly | annual | annually
Top single=yes: per/a/each/every session/sessions/training/class/classes | per training session | per time | each time
    | every time | a time | for each session
Top each @first: by Unit | Unit by Unit | broken down by Unit | for each Unit | per Unit breakdown | grouped by Unit
Top each=weekday: by weekday | by day of the week | per weekday | by week day
Top group: which/what Unit | in which/what Unit | on which/what Unit | during which/what Unit | at what Unit | the
    Unit with/when/where? | the Unit in/on which | Unit with | what was the Unit | Unit i | the? Unit to | in what
    Unit
Top group=weekday: when do/does Subject | which/what weekday/weekdays | on which/what weekday/weekdays | which/what
    day/days of the week | on which/what day/days of the week | day/days of the week | the weekday with? | weekday
Top group=time_of_day: at? what/which time/part of the? day | what/which time | when in the day | in? what/which part
    of the? day
Group_unit: Unit
Group_unit =weekday: weekday | day of the week
Top group=tag: which/what Own? tag/tags | which/what topic/topics | which/what technique/techniques | which/what
    position/positions | what are/is/were/was Own? tags/tag | what theme | which/what
    technique/techniques/position/positions/tag/tags/topic do/did/have/does Subject
    train/work/trained/worked/practise/practice/drill/drilled/use/used on?
Top topics=yes: what do/does/did/have/has Subject train/work/trained/worked/practise/practice/drill/do/focus on?
Top rank_adj @pair: the/my? Ordinal Adj
Top rank_adj @ranked: with? the/my? Ordinal Most number/amount? of? Measure
Top rank_best @triple: the/my? Ordinal Adj training? Group_unit
Top rank_top @pair: the/my? Ordinal Most often/frequently/used/common/frequent/popular? | the/my? Ordinal Most
    often/frequently used
Top best @pair: Adj training? Group_unit | Adj ever? training? Group_unit | Adj single? Group_unit
Top adj: Adj | the Adj | Own Adj
Top adjs @numbered: the? top/first? Number Adj
Adj =minutes+: longest
Adj =minutes-: shortest
Adj =intensity+: hardest | toughest | most intense | highest intensity | most intensive | highest - intensity
Adj =intensity-: easiest | lightest | least intense | lowest intensity | gentlest
Adj =sessions+: busiest | most active | biggest | most frequent
Adj =sessions-: quietest | least active | laziest | slowest | least busy | lightest
Adj =best+: best
Adj =best-: worst
Measure =sessions: sessions/times/trainings/classes/entries/workouts
Measure =minutes: hours/minutes/time | mat time | hours/minutes on the mat/mats | training time | time on the mat/mats
Measure =rounds: sparring? rounds
Measure =intensity: intensity | average intensity
Measure =days: days | training days
Measure =load: load | training load
Most =+: most | the most | highest | the highest | largest | greatest | biggest | maximum | the maximum | max | record
    | record for
Most =-: least | the least | fewest | the fewest | lowest | the lowest | smallest | minimum | min | lowest
Top top @top: Most number/amount/total/count? of? Measure
Top top=+: most often/frequently/regularly? | the most often/frequently? | most/least used/common/frequent/popular |
    top | favourite/favorite | main | most likely | likeliest | most of the time | most frequently used | most often
    used
Top top=-: least likely | Aux Subject never | fewest | the fewest | least often/frequently/regularly? | the least
    often/frequently? | Aux Subject avoid
Top top_number=3: top three/3
Top top_number=5: top five/5
Top top_number=10: top ten/10
Top cmp=+: more | more often | more frequently | more regularly | many more | how much more
Top cmp=-: less | fewer | less often | less frequently | less regularly
Top cmp=intensity+: harder | more intense | more intensely | tougher | higher
Top cmp=intensity-: easier | lighter | less intense | lower
Top cmp=minutes+: longer
Top cmp=minutes-: shorter
Top cmp=better+: better
Top cmp=better-: worse
Top link=than: than
Top link=vs: vs | versus | compared to | compared with | relative to | as opposed to | in comparison to | in
    comparison with | against | rather than
Top link=or: or
Top link=and: and | , and
Top link=to: to
Top link=with: with | - | /
Top trend=yes: trend of/in? | trending up/down? | over time | going/gone/went/go/goes up | going/gone/went/go/goes
    down | grown/growing/grow | shrinking | increasing/increased/increase |
    decreasing/decreased/decrease/dropping/dropped | rising | falling | than before | than usual | than normal | than
    earlier | than i used to | more or less | than average | improving over |
    change/changed/developed/develop/evolved/evolve over time | change/changed/developed/evolved
Top trend=intensity: getting harder/easier/more intense? | becoming harder/easier
Top trend=minutes: getting longer/shorter | becoming longer/shorter
Top last=1: last | last time | the last time | most recently | most recent | latest | the latest | my last | the most
    recent time | my most recent | my latest | newest | lastly | last ever | last thing | the last thing | latest
    thing | last entry | the last entry
Top last=2: second last | second to last | next to last | penultimate | second most recent | last but one | session
    before last | the time before last
Top first=1: since when do/have/has/does Subject been? train/training | first | first time | the first time | first
    ever | very first | the very first | earliest | my first | my very first | first thing | oldest | for the first
    time | when did Subject start/begin | when did Subject start/begin training/rolling/with | how long have Subject
    been training for? | how long has Subject been training for? | how long have Subject been doing bjj/this
Top nth: Ordinal Session | Ordinal Session of/in/from
Newest: last | latest | past | previous | most recent | newest
Top newest @whole: Own? Newest Number
Top of_newest @whole: Own? Newest Number Sessions
Top oldest @whole: Own? first Number Sessions | Own? earliest Number Sessions
Top streak=day: streak | training streak | daily streak | day streak | consecutive days | consecutive training days |
    days in a row | days straight | days running | days consecutively | run of days | run of consecutive days | day
    run | back to back days | consecutive days of training | days of training in a row | straight days | consecutive
    days with training | run of training days? | run of days | training run | run of training
Top streak=week: weekly streak | week streak | consecutive weeks | weeks in a row | weeks straight | weeks running |
    straight weeks | consecutive training weeks | weekly training streak | streak of weeks | streak in weeks |
    consecutive weeks with training/sessions | weeks running/straight Aux Subject been/trained/gone at least once |
    weeks in a row Aux Subject been/trained/gone at least once
Top in_a_row=yes: in a row | straight | consecutively
Top run @days_in_a_row: At_least? Number consecutive/straight days | At_least? Number days in a row | At_least? Number
    days straight | At_least? Number days running | At_least? Number or more consecutive days | At_least? Number days
    consecutively | At_least? Number - day streak | At_least? Number day streak | At_least? Number days of training in
    a row
Top run @weeks_in_a_row: At_least? Number consecutive/straight weeks | At_least? Number weeks in a row | At_least?
    Number weeks straight | At_least? Number weeks running
Top current=yes: current | currently | right now | at the moment | now | am i on | still running | ongoing | at
    present | as of today | today
Top gap=yes: break | gap | pause | layoff | lay off | time off | break from training | gap between Session | break
    between Session | gap in training | time without training/session | stretch without training | period without
    training | gap in my training | gap between Own? Session | stretch without Own? Session | time between Session |
    break in training | break i took | stretch without a session | time without a session | training break | stretch
    off | rest between Session | breaks | time away from the mat/mats | stretch away from the mat/mats | time off the
    mat/mats | run without training | without training | without a session | off the mat/mats | time between Own?
    Session | stretch off the mats | dry spell | gone/went/go without training | gone/went/go without a session |
    inactive period | period of inactivity | period off | off between Session | stretch with no training | stretch
    with no session/sessions | rest | stayed/stay/been away | stayed/stay/been away from training | stayed/stay/been
    away from the mat/mats/gym/dojo/academy
Break: break/breaks/gap/gaps/pause/pauses/layoff/layoffs | time off
Many_days @many_days: Number Span
Many_days =7: a/one? full/whole? week
Many_days =14: a fortnight
Many_days =30: a/one? full/whole? month
Resting: off/away | off training | without training | without a session | without any training | in a row without
    training | in a row off | with no training
Top pause @days_or_more: Break of/lasting? At_least? Many_days | Break of/lasting? Many_days or more/longer |
    take/took/taken/have/had/go/went/gone/miss/missed At_least? Many_days Resting | At_least Many_days Resting |
    Subject Aux not Train for At_least? Many_days | Aux Subject not Train for At_least? Many_days
Top pause @more_days: Break that/which? was/were/lasted? of/lasting? More_than Many_days |
    take/took/taken/have/had/go/went/gone More_than Many_days Resting | More_than Many_days Resting | Subject Aux not
    Train for More_than Many_days | Aux Subject not Train for More_than Many_days
Top near: around/at/about/over/round Period
Top off=count: rest days | days off | off days | days without training | days with no training | days without a
    session | days with no session/sessions | days without sessions | training - free days | days Aux Subject not
    Train | days Subject Aux not Train | days Aux not Subject Train | days that Subject Aux not Train | days Aux
    Subject skip/miss | days without any training | days with no training at all | days Aux Subject take off | days
    Aux Subject rest | days Aux Subject Aux off | days Subject took off | days Aux Subject not Aux
Top off=list: which/what days Aux Subject not Train | which/what days Aux not Subject Train | on which/what days Aux
    Subject not Train | which/what days Subject Aux not Train | which days did Subject skip/miss | which/what days Aux
    Subject rest | which/what days Aux Subject take off
Top idle=week: weeks without training/sessions | weeks without a/any session/training | weeks with no
    training/sessions/session | weeks Aux Subject not Train | weeks Subject Aux not Train | weeks Aux not Subject
    Train | weeks off | which/what weeks Aux Subject not Train
Top idle=month: months without training/sessions | months without a/any session/training | months with no
    training/sessions/session | months Aux Subject not Train | months Subject Aux not Train | which/what months Aux
    Subject not Train
Top idle=week: skip/miss/skipped/missed a/any/one/some? full/whole/entire/single? week/weeks | a/any week off | a/any
    full/whole/entire/single? week without training/sessions
Top idle=month: skip/miss/skipped/missed a/any/one/some? full/whole/entire/single? month/months
Top lacking=week: a/any/one/some? full/whole/entire/single/calendar? week/weeks | which/what weeks/week
Top lacking=month: a/any/one/some? full/whole/entire/single/calendar? month/months | which/what months/month
Top not_done: Not_doing Left_out | Not_doing Absent | Not_doing Det Absent
Not_doing: Aux Subject not do/train/have/get? | where/when/that/which? Subject Aux not do/train/have/get? | Aux not
    Subject do/train/have/get? | without | with no/zero | Aux Subject not go/get to a/the? | Subject Aux not go/get to
    a/the? | Aux not Subject go/get to a/the?
Top not_train=yes: Aux Subject not Train | Aux not Subject Train | where/when/that/which? Subject Aux not Train | in
    which Subject Aux not Train | where/when/that? Subject never Train | without training/sessions | without a/any/one
    session/training | with no/zero training/sessions/session | where/when Subject Aux no training/sessions |
    where/when Subject skipped/missed training? | i took off | off
Top doubles=yes: twice a/per day | twice in a/one single? day | twice on/in the same day | twice on one/a day | two -
    a - days | two a days | double sessions | double days | two/2/multiple/several sessions/times/trainings in/on/per?
    a/one/the same? day | more than once a/per day | more than once in/on a/one/the same? single? day | more than one
    session a/per/in/on/on a/one/the? same? day | two/2 sessions on the same day | two/2 sessions on one day | two/2
    sessions in one day | more than one session in a day | more than one session on the same day | twice the same day
    | 2 times in a day | double session days | two - a - day | two or more sessions on the same day | two or more
    sessions in one day | two or more sessions in a day
Top ever=yes: ever | so far | all time | of all time | to date | since i started | since the beginning | in my life |
    yet | at all | in the journal | in my journal | since i began | altogether ever
Subject: i | we | she | he | they | you | Athlete
Aux: did/do/does/have/has/had/was/were/am/is/are
Own: my/our/her/his/their/your/the | Athlete 's | all my | all of my | any of my | all the
Train: train/trained/training/trains/roll/rolled/rolling/spar/sparred/sparring | work/worked out | on the mat/mats |
    practise/practised/practice/practiced | been training | go/went training | exercise/exercised
Filler: Train | Own | Subject | Athlete | a/an/the/my/me/mine/we/our/us/her |
    his/their/them/'s/did/do/does/doing/done/have | has/had/having/was/were/is/are/am/be/been |
    being/of/in/on/at/for/it/its/that | these/those/there/any/all/just/really/actually/so/also | then/what/as/,/. |
    i/you/she/he/they/we | go/went/gone/going/get/got/getting/come/came/attend |
    attended/attending/log/logged/logging/record/recorded/visit/visited/complete |
    completed/spend/spent/spending/put/rack/racked/clock/clocked/manage |
    managed/make/made/take/took/taken/show/showed/happen/happened |
    held/write/wrote/written/fit/squeeze/step/stepped/given/use | used/using/reach/reached/pls/plz/dates/do/end/ended
    | but | to class | to train/roll/spar/do/go/get/be | go/went/been/come/came/get/got/gone to | make/made it to/in?
    | turn/turned/show/showed up to? | in order to | to training | to the gym/mat/mats/academy/dojo | on the mat/mats
    | in the gym | at the gym/academy | onto the mat/mats | the mat/mats | bjj | jiu jitsu | jiu - jitsu | in training
    | of training | in the? class | up | in my journal | journal/diary | time Subject | times | of them | of those |
    different | took place | worth of | amount | number | it was | was it | long | entries | one | ones | up in | add
    up | by date | i logged | i had | i have | i did | i do | i trained | in practice | logged in | value | on record
    | actual | individual | whole | ended up | down in | shows/show/showed/comes/come/came up |
    appears/appear/appeared | add/adds/added up to | did/done anything
Lead: can/could you tell me? | can/could you show me | could i know | do you know | i want to know | i had like to
    know | tell me | please | hey | hi | hello | ok | okay | so | well | remind me | thanks | thank you | i wonder |
    just curious | curious | can you give me | i would like to know | give me | would you say | let me know | quick
    question | for me
Middle =filler: Aux Subject
Top within=yes: in a/one/single/any/each session/training/class | in a single session/training/class | in one single
    session | in any one session | in one go | at once | in any session | of any session | in the same session | in
    session
Top lately=yes: lately | recently | these days | as of late | nowadays | of late | in recent weeks
Top which_nth: Own Ordinal
"""
