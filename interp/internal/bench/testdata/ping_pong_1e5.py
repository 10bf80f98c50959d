import asyncio
async def main():
    ping, pong = asyncio.Queue(1), asyncio.Queue(1)
    async def answer():
        while True:
            await pong.put(await ping.get() + 1)
    task = asyncio.create_task(answer())
    x = 0
    for _ in range(100000):
        await ping.put(x)
        x = await pong.get()
    task.cancel()
    print(x)
asyncio.run(main())
