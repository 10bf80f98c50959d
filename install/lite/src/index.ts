// The extension registers the kernel "Go (Quern)" with JupyterLite.

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { PageConfig, URLExt } from '@jupyterlab/coreutils';
import { IKernelClient, IKernelSpecs } from '@jupyterlite/services';
import type { IKernel } from '@jupyterlite/services';

import { loadWorker, QuernKernel } from './kernel';

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'quern-lite:kernel',
  description: 'Runs Go in a Web Worker.',
  autoStart: true,
  requires: [IKernelSpecs, IKernelClient],
  activate: (app: JupyterFrontEnd, specs: IKernelSpecs, client: IKernelClient) => {
    const program = URLExt.join(PageConfig.getBaseUrl(), 'quern');
    const running = new Map<string, QuernKernel>();
    // Go starts while JupyterLab does, which takes as long. A kernel that gets no worker loads one and sees why that fails.
    let prepared: Worker | undefined = loadWorker(program);
    prepared.onerror = () => { prepared = undefined; };
    specs.register({
      spec: {
        name: 'quern',
        display_name: 'Go (Quern)',
        language: 'go',
        argv: [],
        resources: { 'logo-svg': URLExt.join(program, 'logo.svg'), 'logo-64x64': URLExt.join(program, 'logo.svg') }
      },
      create: async (options: IKernel.IOptions): Promise<IKernel> => {
        const kernel = new QuernKernel(options, program, app.serviceManager.contents, prepared);
        prepared = undefined;
        running.set(kernel.id, kernel);
        kernel.disposed.connect(() => {
          if (running.get(kernel.id) === kernel) {
            running.delete(kernel.id);
          }
        });
        return kernel;
      }
    });

    keepServiceWorker().catch(error => console.warn('quern: cannot look for a new version of the site:', error));

    void app.restored.then(async () => {
      if (!(await canStore())) {
        await app.commands.execute('apputils:notify', {
          message: 'This browser keeps no files for this site: download notebooks (File > Download) before you close the page.',
          type: 'warning', options: { autoClose: false }
        });
      }
    });

    // JupyterLab shows the error of a failed save; the browser's own does not say what to do.
    const { contents } = app.serviceManager;
    const save = contents.save.bind(contents);
    contents.save = async (path, options) => {
      try {
        return await save(path, options).catch(error => {
          // Firefox closes the database after a file did not fit; JupyterLite opens it again at the next access.
          if (error?.name === 'InvalidStateError') {
            return save(path, options);
          }
          throw error;
        });
      } catch (error) {
        if ((error as any)?.name !== 'QuotaExceededError') {
          throw error;
        }
        const message = `${path} is not saved: the browser has no space left for the files of this site. ` +
          'Download the notebook (File > Download), delete files that you no longer need, and save again.';
        throw Object.assign(new Error(message), { name: 'QuotaExceededError' });
      }
    };

    // JupyterLite's client only drops the cells that wait, and does not tell the kernel.
    const interrupt = client.interrupt.bind(client);
    client.interrupt = async (id: string): Promise<void> => {
      const kernel = running.get(id);
      await (kernel ? kernel.interrupt() : interrupt(id));
    };
  }
};

/**
 * At the second visit, JupyterLite registers its service worker again, since it has not noted the version at the first.
 * Until that is done, requests of the page fail in Firefox. WebKit looks for a new version of the site only when asked.
 */
async function keepServiceWorker(): Promise<void> {
  const registration = await navigator.serviceWorker?.ready;
  if (registration?.active) {
    localStorage.setItem(`${registration.active.scriptURL}-version`, PageConfig.getOption('appVersion'));
    await registration.update();
  }
}

/** Says whether the browser keeps files for the site; otherwise JupyterLite keeps them in memory. */
function canStore(): Promise<boolean> {
  return new Promise(resolve => {
    try {
      const request = indexedDB.open('quern-can-store');
      request.onsuccess = () => {
        request.result.close();
        resolve(true);
      };
      request.onerror = () => resolve(false);
    } catch {
      resolve(false);
    }
  });
}

export default plugin;
